import { AnswerLostError, type Kv, type KvRow, type Pause, realPause } from '../stores/kv.ts';
import { hashOfEntry, LogDamagedError, type Position, unlinked } from './chain.ts';
import { catchUp, type LogCopy, LogReader } from './log-reader.ts';
import { LogKeys } from './log-rows.ts';

export interface LogFollowerOptions {
  readonly kv: Kv;
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly log: (event: object) => void;
  readonly lookMs?: number;
  /** Pause between two looks. */
  readonly pause?: Pause;
}

/** A log that is followed. */
interface Followed {
  readonly slot: number;
  readonly keys: LogKeys;
  readonly copy: LogCopy;
  /** The copy's position is one of the log's. */
  isBegun: boolean;
  hasEnded: boolean;
  /** When the copy last had everything, by the monotonic clock. */
  levelAt: number;
  /** The last change of the copy. */
  change: Promise<void>;
  /** The last failure, and how often it came. */
  failure: { readonly text: string; readonly count: number };
}

const NONE = { text: '', count: 0 };
/** Milliseconds between two looks at the logs. */
const LOOK_MS = 500;
/** Entries per log in one look, which bounds the memory in use. */
const ENTRIES_MAX = 8;
/** Logs in one question. */
const LOGS_MAX = 8;
/** Entries of one question when a copy is far behind. */
const PAGE = 16;

/**
 * Keeps copies of logs that other servers write. It never writes, and a log may be truncated at any time: a copy that lacks truncated
 * entries begins again from the snapshot. While the engine does not answer, the copies stay as they are.
 */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #followed = new Map<number, Followed>();
  /** Ends the pause between two looks. */
  #wake: () => void = () => undefined;
  #isEnding = false;
  readonly #running: Promise<void>;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  add(slot: number, copy: LogCopy): void {
    this.#followed.set(slot, {
      slot,
      copy,
      keys: new LogKeys(this.#options.prefix, slot),
      isBegun: false,
      hasEnded: false,
      levelAt: performance.now(),
      change: Promise.resolve(),
      failure: NONE,
    });
    this.#wake();
  }

  /** Resolves once nothing more is done to the copy; what is being read of its log is left. */
  async remove(slot: number): Promise<void> {
    const followed = this.#followed.get(slot);
    if (!followed) return;
    followed.hasEnded = true;
    this.#followed.delete(slot);
    await followed.change.catch(() => undefined);
  }

  /** Whether the copy has had everything once. */
  isBegun(slot: number): boolean {
    return this.#followed.get(slot)?.isBegun ?? false;
  }

  /** Known lag of the copy that is furthest behind, in milliseconds. */
  get lagMs(): number {
    const since = Array.from(this.#followed.values(), ({ levelAt }) => levelAt);
    return since.length === 0 ? 0 : Math.max(0, performance.now() - Math.min(...since));
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { lookMs = LOOK_MS, pause = realPause } = this.#options;
    while (!this.#isEnding) {
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      await this.#look();
      await Promise.race([pause(lookMs), woken.promise]);
    }
  }

  async #look(): Promise<void> {
    for (const followed of [...this.#followed.values()].filter(({ isBegun }) => !isBegun))
      await this.#work(followed, () => this.#begin(followed));
    const begun = [...this.#followed.values()].filter(({ isBegun }) => isBegun);
    for (let from = 0; from < begun.length; from += LOGS_MAX)
      await this.#goOn(begun.slice(from, from + LOGS_MAX));
  }

  async #goOn(some: readonly Followed[]): Promise<void> {
    const { kv } = this.#options;
    const places = some.map(({ copy }) => copy.position!);
    const askedAt = performance.now();
    let found: KvRow[][];
    try {
      found = await kv.ranges(
        // Includes its own last entry: a log that was truncated past the copy lacks it.
        some.map(({ keys }, index) => ({
          from: keys.entry(Math.max(1, places[index]!.number)),
          to: keys.end,
          limit: ENTRIES_MAX,
        })),
      );
    } catch (error) {
      if (!(error instanceof AnswerLostError)) throw error;
      return;
    }
    for (const [index, followed] of some.entries())
      await this.#work(followed, () => this.#advance(followed, found[index]!, askedAt));
  }

  /** Unless the log is not followed any more. What fails is tried again with the next look. */
  async #work(followed: Followed, work: () => Promise<void>): Promise<void> {
    if (followed.hasEnded) return;
    const { slot } = followed;
    try {
      await work();
      followed.failure = NONE;
    } catch (error) {
      if (followed.hasEnded || error instanceof AnswerLostError) return;
      followed.isBegun = false;
      const text = String(error);
      const count = followed.failure.text === text ? followed.failure.count + 1 : 1;
      followed.failure = { text, count };
      // A log that is shortened while it is read seems damaged, once.
      if (count === (error instanceof LogDamagedError ? 2 : 1))
        this.#options.log({ event: 'log_not_followed', slot, error: text });
    }
  }

  /** Reads what the copy lacks, however much. */
  async #begin(followed: Followed): Promise<void> {
    const { keys, copy } = followed;
    const askedAt = performance.now();
    const reader = new LogReader({ read: (...range) => this.#options.kv.range(...range), keys, page: PAGE });
    await catchUp(
      {
        position: copy.position,
        apply: (...entries) => change(followed, () => copy.apply(...entries)),
        clear: () => change(followed, () => copy.clear()),
      },
      reader,
    );
    followed.isBegun = true;
    followed.levelAt = askedAt;
  }

  /** @param rows from the copy's own last entry on */
  async #advance(followed: Followed, rows: readonly KvRow[], askedAt: number): Promise<void> {
    const { keys, copy } = followed;
    let position = copy.position!;
    const [first, ...rest] = rows;
    const isOwn = first?.key === keys.entry(position.number);
    // No entries follow the copy's position, or a snapshot has replaced them.
    if (!first && position.number > 0 && !(await this.#isSnapshotOf(followed, position)))
      return this.#beginAgain(followed);
    if (isOwn && hashOfEntry(first.value, first.key) !== position.hash) return this.#beginAgain(followed);
    const entries: Uint8Array[] = [];
    for (const { key, value } of isOwn ? rest : rows) {
      if (key !== keys.entry(position.number + 1)) return this.#beginAgain(followed);
      const { position: next, payload } = unlinked(position, value, key);
      position = next;
      entries.push(payload);
    }
    if (entries.length > 0) await change(followed, () => copy.apply(entries, position));
    if (rows.length < ENTRIES_MAX) followed.levelAt = askedAt;
    else await this.#beginAgain(followed);
  }

  async #isSnapshotOf({ keys, copy }: Followed, { number, hash }: Position): Promise<boolean> {
    const reader = new LogReader({ read: (...range) => this.#options.kv.range(...range), keys });
    await reader.open(copy.position);
    return reader.snapshot.number === number && reader.snapshot.hash === hash;
  }

  /** A copy that was cleared and not filled, because an answer was lost, has no position to go on from. */
  #beginAgain(followed: Followed): Promise<void> {
    followed.isBegun = false;
    return this.#begin(followed);
  }
}

/** @throws Error for a copy that is not followed any more */
async function change(followed: Followed, work: () => Promise<void>): Promise<void> {
  if (followed.hasEnded) throw new Error('not followed any more');
  followed.change = work();
  await followed.change;
}
