import { errorCode } from '../../domain/error.ts';
import { LISTS, type SegmentKind, VECTOR_LISTS } from '../../domain/family.ts';
import type { FilledSpace, PreviousSpace } from '../../domain/space.ts';
import type { Store, Table } from '../../state/store.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import type { ReencodeDeps, ReencodeRun } from './reencode-deps.ts';
import { reencodePictures } from './reencode-pictures.ts';
import { reencodeText } from './reencode-text.ts';

/** A space, and the model that fills it with its name for people. */
interface NamedSpace extends FilledSpace {
  readonly model: string;
}

export interface ReencodingDeps extends ReencodeDeps {
  readonly store: Store;
  /** The spaces of the models in use. */
  readonly inUse: readonly NamedSpace[];
  /** Loads a previous model, so that no search has to wait for it. */
  readonly load: (space: NamedSpace) => Promise<unknown>;
  /** Runs the work on one index in its turn; absent: at once. */
  readonly inTurn?: (work: () => Promise<void>) => Promise<void>;
  /** No index needs a previous model any more. */
  readonly onDone: () => Promise<void>;
  readonly log: (event: object) => void;
  /** What an operator must see. */
  readonly warn: (event: object) => void;
}

export interface ReencodingProgress {
  /** Tenants that are still to be looked at. */
  readonly tenants_left: number;
  /** Since the start. */
  readonly segments_done: number;
  /** Segments whose source could not be had: they are not found by the new model. */
  readonly segments_given_up: number;
  /** Tenants whose change failed; tried again at the next start. */
  readonly tenants_failed: number;
}

const KEY = 'filled';
const LOG_EVERY_MS = 10_000;
const ENCODED_AGAIN =
  'what is stored is encoded again in the background; until then the previous model searches it';
const STAYS =
  'what is stored stays with the previous model, and is encoded again once one is in use in its place';

/**
 * A change of model: what an index holds is encoded again in the background, Tenant by Tenant, while the model that filled
 * it goes on serving it. The index itself knows what is missing, so that it goes on after any end of the server. The shared
 * state remembers which models may have filled an index: with those in use alone there is nothing to look for.
 */
export class Reencoding {
  readonly #parts: ReencodingDeps;
  readonly #table: Table<{ readonly spaces: readonly NamedSpace[] }>;
  readonly #stop = new AbortController();
  readonly #progress = { tenants_left: 0, segments_done: 0, segments_given_up: 0, tenants_failed: 0 };
  #running: Promise<void> | undefined;
  #loggedAt = 0;

  constructor(parts: ReencodingDeps) {
    this.#parts = parts;
    this.#table = parts.store.table('models');
  }

  /** Undefined when no change is under way. */
  progress(): ReencodingProgress | undefined {
    return this.#running && { ...this.#progress };
  }

  /** At start, before the first request: previous models are loaded; the rest goes on by itself. */
  async start(): Promise<void> {
    const { inUse, load, warn, log, tenants } = this.#parts;
    const before = this.#table.get(KEY)?.spaces;
    const previous = (before ?? []).filter((old) => !inUse.some((now) => isSame(old, now)));
    // Nothing was filled by another model: spaces that are new are remembered with the others.
    if (before && previous.length === 0)
      return before.length < inUse.length ? this.#remember(inUse) : undefined;
    const all = await tenants.list();
    if (all.length === 0) return this.#remember(inUse);
    // From here on an index may be filled by either.
    await this.#remember([...previous, ...inUse]);
    const successor = (old: NamedSpace) => inUse.find(({ role }) => role === old.role);
    for (const old of previous) {
      const now = successor(old);
      warn({
        event: 'model_changed',
        role: old.role,
        from: old.model,
        to: now?.model ?? 'none',
        tenants: all.length,
        consequence: now ? ENCODED_AGAIN : STAYS,
      });
    }
    await Promise.all(previous.map(load));
    const staying = previous.filter((old) => !successor(old));
    if (before && staying.length === previous.length) return;
    if (!before) log({ event: 'indexes_looked_at', why: 'which models filled them is not known' });
    this.#progress.tenants_left = all.length;
    this.#running = this.#run(all, staying)
      .catch((error: unknown) =>
        warn({ event: 'reencoding_failed', code: errorCode(error) ?? 'internal', error: String(error) }),
      )
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Stops; it goes on at the next start. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the server stops'));
    await this.#running;
  }

  /** @param staying previous models of roles that no model is in use for */
  async #run(all: readonly string[], staying: readonly NamedSpace[]): Promise<void> {
    const { inUse, log, onDone, inTurn = (work) => work() } = this.#parts;
    const started = performance.now();
    for (const tenant of all) {
      if (this.#stop.signal.aborted) return;
      await inTurn(() => this.#tenant(tenant));
      this.#progress.tenants_left -= 1;
    }
    if (this.#stop.signal.aborted) return;
    log({ event: 'reencoding_done', ms: Math.round(performance.now() - started), ...this.#progress });
    if (this.#progress.tenants_failed > 0) return;
    // What stays is encoded again once a model is in use for it: it must be known then.
    await this.#remember([...staying, ...inUse]);
    if (staying.length === 0) await onDone();
  }

  /** Never rejects: an index that cannot be encoded again stays with its previous model until the next start. */
  async #tenant(tenant: string): Promise<void> {
    const { log, warn } = this.#parts;
    const { signal } = this.#stop;
    const { tenants } = this.#parts;
    const run: ReencodeRun = {
      ...this.#parts,
      tenants: {
        folder: (of) => tenants.folder(of),
        list: () => tenants.list(),
        // Each step may be done again: what is there already is left out.
        use: (of, options, work) => retryOverloaded(() => tenants.use(of, options, work), signal),
      },
      tenant,
      signal,
      onDone: (segments) => this.#count(segments),
      onGivenUp: (segments, reason) => {
        this.#progress.segments_given_up += segments;
        warn({ event: 'reencoding_without_source', tenant, segments, reason });
      },
    };
    const begun = performance.now();
    try {
      if (await reencodeTenant(run))
        log({ event: 'tenant_reencoded', tenant, ms: Math.round(performance.now() - begun) });
    } catch (error) {
      // Its end came before, or the server's.
      if (this.#stop.signal.aborted || errorCode(error) === 'not_found') return;
      this.#progress.tenants_failed += 1;
      warn({
        event: 'reencoding_failed',
        tenant,
        code: errorCode(error) ?? 'internal',
        error: String(error),
      });
    }
  }

  #count(segments: number): void {
    this.#progress.segments_done += segments;
    if (performance.now() - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = performance.now();
    this.#parts.log({ event: 'reencoding', ...this.#progress });
  }

  #remember(spaces: readonly NamedSpace[]): Promise<void> {
    return this.#table.put(KEY, { spaces });
  }
}

function isSame(a: FilledSpace, b: FilledSpace): boolean {
  return a.role === b.role && a.modelSha256 === b.modelSha256;
}

/** True when there was something to do. @throws not_found when the Tenant ended meanwhile */
async function reencodeTenant(run: ReencodeRun): Promise<boolean> {
  const { tenants, tenant, encoder } = run;
  const previous = await tenants.use(tenant, {}, async (shard) => {
    await shard.removeStaleSpaces();
    const snapshot = shard.snapshot();
    const found: readonly PreviousSpace[] = snapshot.previousSpaces();
    snapshot.close();
    // A previous model's space without a model in use for its role stays as it is.
    return found.filter(({ role }) => encoder.spaces.some(({ name }) => name === role));
  });
  const passages = previous.filter(({ role }) => kindOf(role) === 'passages');
  for (const space of passages) await reencodeText(run, space);
  const pictures = previous.filter(({ role }) => kindOf(role) === 'pictures');
  if (pictures.length > 0) await reencodePictures(run, pictures);
  return previous.length > 0;
}

/** Kind of Segment whose vectors a space holds. */
function kindOf(role: string): SegmentKind | undefined {
  const list = VECTOR_LISTS.find((name) => LISTS[name].spaces.includes(role));
  return list && LISTS[list].kind;
}
