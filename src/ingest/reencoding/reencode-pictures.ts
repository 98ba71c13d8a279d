import type { Item } from '../../api/items.ts';
import type { Locator } from '../../api/search.ts';
import type { PictureContent } from '../../domain/document.ts';
import { errorCode } from '../../domain/error.ts';
import type { TenantId } from '../../domain/id.ts';
import type { PreviousSpace } from '../../domain/space.ts';
import type { VectorsBySpace } from '../ports/ports.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import { type Known, known, putRows, type ReencodeRun } from './reencode-deps.ts';

const PICTURES_AT_ONCE = 16;
/** Segments that are looked for at once: more than one file can have, and few enough to be read in one go. */
const LACKING_AT_ONCE = 4_096;
/** In this order they come to serve: with the last of them the change is done. */
const ROLES = ['visual_words', 'visual_picture'] as const;

/** One space that is to be filled: for the Segments of which space, and which of them can't be. */
interface Filling {
  readonly role: string;
  readonly from: string;
  readonly givenUp: Set<number>;
}

/** The Segments of one Item that lack a row, by space. */
type Lacking = Map<Filling, Known[]>;

/** Encodes all stored pictures by the picture model in use, from the files they came in, and then lets it serve. */
export async function reencodePictures(run: ReencodeRun, previous: readonly PreviousSpace[]): Promise<void> {
  const previousOf = (role: string) => previous.find((space) => space.role === role);
  const fillings = ROLES.filter((role) => run.encoder.spaces.some(({ name }) => name === role)).map(
    (role): Filling => ({
      role,
      // If the previous model lacked this space, every picture is in the other one.
      from: previousOf(role)?.key ?? previousOf('visual_picture')?.key ?? 'visual_picture',
      givenUp: new Set(),
    }),
  );
  for (;;) {
    run.signal.throwIfAborted();
    if (await fillSome(run, fillings)) continue;
    if (await switchAll(run, fillings)) return;
  }
}

/** Lets the filled spaces serve. False where one lacks a row again: something was ingested meanwhile. */
async function switchAll({ tenants, tenant }: ReencodeRun, fillings: readonly Filling[]): Promise<boolean> {
  return tenants.use(tenant, {}, async (shard) => {
    for (const { role, givenUp } of fillings) {
      const snapshot = shard.snapshot();
      const previous = snapshot.previousSpaces().find((space) => space.role === role);
      snapshot.close();
      if (previous && !(await shard.switchSpace(previous.key, role, Uint32Array.from(givenUp)))) return false;
    }
    return true;
  });
}

/** False when nothing lacks a row any more, but what was given up. */
async function fillSome(run: ReencodeRun, fillings: readonly Filling[]): Promise<boolean> {
  const { tenants, tenant } = run;
  const { wanted, items } = await tenants.use(tenant, {}, async (shard) => {
    const byItem = new Map<string, Lacking>();
    const found = new Map<string, Item>();
    for (const filling of fillings) {
      const { from, role, givenUp } = filling;
      const lacking = await shard.lacking(from, role, Uint32Array.from(givenUp), LACKING_AT_ONCE);
      const some = known(shard, lacking);
      for (const [id, item] of some.items) found.set(id, item);
      const groups = new Map<string, Known[]>();
      for (const one of some.all) {
        const own = groups.get(one.record.item);
        if (own) own.push(one);
        else groups.set(one.record.item, [one]);
      }
      // The last one may go on after the end of the list.
      const last = [...groups.keys()].at(-1);
      if (lacking.length === LACKING_AT_ONCE && groups.size > 1 && last !== undefined) groups.delete(last);
      for (const [id, segments] of groups)
        byItem.set(id, (byItem.get(id) ?? new Map<Filling, Known[]>()).set(filling, segments));
    }
    return { wanted: byItem, items: found };
  });
  for (const [id, lacking] of wanted) await fillItem(run, id, items.get(id), lacking);
  return wanted.size > 0;
}

async function fillItem(
  run: ReencodeRun,
  id: string,
  item: Item | undefined,
  lacking: Lacking,
): Promise<void> {
  const { encoder, tenant, signal, onDone, onGivenUp } = run;
  signal.throwIfAborted();
  const pictures = item ? await picturesOf(run, item) : 'its item is gone';
  if (typeof pictures === 'string') return giveUp(pictures);
  const rows: VectorsBySpace = {};
  for (let start = 0; start < pictures.length; start += PICTURES_AT_ONCE) {
    const part = pictures.slice(start, start + PICTURES_AT_ONCE).map(({ pixels }) => pixels.rgb);
    const some = await retryOverloaded(
      () => encoder.encodeIngest('picture', part, { tenant, signal }),
      signal,
    );
    for (const [space, more] of Object.entries(some)) rows[space] = [...(rows[space] ?? []), ...more];
  }
  for (const [filling, segments] of lacking) {
    const order = matched(segments, pictures);
    // In one write: of one Item's Segments all lack a row, or none.
    if (order)
      await putRows(
        run,
        filling.role,
        segments,
        order.map((index) => rows[filling.role]![index]!),
      );
    else giveUp('its file gives other pictures now', filling);
  }
  onDone(Math.max(...[...lacking.values()].map(({ length }) => length)));

  function giveUp(reason: string, only?: Filling): void {
    for (const [filling, segments] of lacking) {
      if (only && filling !== only) continue;
      for (const { segment } of segments) filling.givenUp.add(segment);
      onGivenUp(segments.length, `${reason} (${id})`);
    }
  }
}

/** The pictures of an Item's stored file; or why they cannot be had. @throws what is no fault of the file */
async function picturesOf(
  { files, tenant, extractor, signal }: ReencodeRun,
  item: Item,
): Promise<readonly PictureContent[] | string> {
  try {
    const path = await retryOverloaded(() => files.path(tenant as TenantId, item.id), signal);
    const opened = await retryOverloaded(() => extractor.open(path, { name: item.name, tenant }), signal);
    return (await extractor.extract(path, opened, { tenant, signal, recognise: false })).pictures;
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'its file is not stored any more';
    const code = errorCode(error);
    if (code === undefined || code === 'internal' || code === 'interrupted') throw error;
    return `its file cannot be read: ${code}`;
  }
}

/** For each Segment the index of its picture: by where it lies in the file, and there by order. */
function matched(segments: readonly Known[], pictures: readonly PictureContent[]): number[] | undefined {
  const place = ({ page, time_s }: Pick<Locator, 'page' | 'time_s'>) => `${page} ${time_s}`;
  const waiting = new Map<string, number[]>();
  for (const [index, picture] of pictures.entries())
    waiting.set(place(picture), [...(waiting.get(place(picture)) ?? []), index]);
  const order = segments.map(({ record }) => waiting.get(place(record.locator))?.shift());
  const all = order.length === pictures.length && order.every((index) => index !== undefined);
  return all ? (order as number[]) : undefined;
}
