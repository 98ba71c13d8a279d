import type { Item } from '../../api/items.ts';
import type { PreviousSpace } from '../../domain/space.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import {
  type Known,
  known,
  LACKING_AT_ONCE,
  putRows,
  type ReencodeRun,
  SEGMENTS_AT_ONCE,
} from './reencode-deps.ts';

/** Texts that are handed to the encoder at once: enough for its workers, few enough to be lost to a crash. */
const TEXTS_AT_ONCE = 16;
/** Titles whose heads are remembered. */
const HEADS_MAX = 1_000;

/** Encodes all stored passages by the text model in use, and then lets it serve. */
export async function reencodeText(run: ReencodeRun, { role, key }: PreviousSpace): Promise<void> {
  const { tenants, tenant, signal } = run;
  const heads = new Heads(run);
  const givenUp = new Set<number>();
  for (;;) {
    signal.throwIfAborted();
    const wanted = await tenants.use(tenant, {}, (shard) =>
      shard.lacking(key, role, Uint32Array.from(givenUp), LACKING_AT_ONCE),
    );
    for (let start = 0; start < wanted.length; start += SEGMENTS_AT_ONCE)
      await encodeSome(run, role, wanted.subarray(start, start + SEGMENTS_AT_ONCE), heads, givenUp);
    if (wanted.length > 0) continue;
    // What was ingested since the last look may lack a row again: then it goes round once more.
    const done = await tenants.use(tenant, {}, (shard) =>
      shard.switchSpace(key, role, Uint32Array.from(givenUp)),
    );
    if (done) return;
  }
}

async function encodeSome(
  run: ReencodeRun,
  role: string,
  segments: Uint32Array,
  heads: Heads,
  givenUp: Set<number>,
): Promise<void> {
  const { tenants, tenant, encoder, signal } = run;
  const { all, items } = await tenants.use(tenant, {}, (shard) => known(shard, segments));
  const texts: { readonly known: Known; readonly words: string }[] = [];
  for (const one of all) {
    const { text, item } = one.record;
    if (text === undefined) {
      givenUp.add(one.segment);
      run.onGivenUp(1, 'no text is stored of it');
    } else texts.push({ known: one, words: `${await heads.of(items.get(item))}${text}` });
  }
  for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
    const part = texts.slice(start, start + TEXTS_AT_ONCE);
    const words = part.map((one) => one.words);
    const rows = await retryOverloaded(() => encoder.encodeIngest('text', words, { tenant, signal }), signal);
    await putRows(
      run,
      role,
      part.map((one) => one.known),
      rows[role] ?? [],
    );
    run.onDone(part.length);
  }
}

/** What stands before each passage of a document: its title, as the model in use shortens it, and a line break. */
class Heads {
  readonly #run: ReencodeRun;
  readonly #known = new Map<string, string>();

  constructor(run: ReencodeRun) {
    this.#run = run;
  }

  async of(item: Item | undefined): Promise<string> {
    const title = item?.title;
    if (title === undefined) return '';
    const before = this.#known.get(title);
    if (before !== undefined) return before;
    const { encoder, tenant, signal } = this.#run;
    const body = 'x';
    const [passage] = await retryOverloaded(
      () => encoder.cutPassages({ title, blocks: [{ text: body }] }, { tenant, signal }),
      signal,
    );
    const head = passage?.words.slice(0, -body.length) ?? '';
    if (this.#known.size >= HEADS_MAX) this.#known.clear();
    this.#known.set(title, head);
    return head;
  }
}
