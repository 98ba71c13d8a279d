import { FencedError, type GroupCommit } from '../stores/group-commit.ts';
import { behind, type Kv, type KvCondition, type Pause, untilAnswered } from '../stores/kv.ts';
import { hashOf, linked, ORIGIN, type Position } from './chain.ts';
import { LogReader } from './log-reader.ts';
import {
  formatSnapshot,
  LogKeys,
  NO_SNAPSHOT,
  parseSnapshot,
  SNAPSHOT_FORMAT,
  type SnapshotRow,
} from './log-rows.ts';

export interface SlotLogOptions {
  readonly kv: Kv;
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly slot: number;
  /** Holds while this process owns the slot. */
  readonly fence: KvCondition;
  readonly commits: GroupCommit;
  /** Called once, with the reason why nothing more can be written to the log. */
  readonly onLost: (error: unknown) => void;
  readonly log?: (event: object) => void;
  /** Pause between two attempts to read. */
  readonly pause?: Pause;
}

/** Maximum size of one transaction's changes, and of a part of a snapshot. */
export const ENTRY_BYTES_MAX = 2 ** 20 - 4096;
/** A snapshot is due when the entries after the last one are larger than this, and than the snapshot itself. */
const TAIL_BYTES_MIN = 2 ** 20;

/** The log of one slot, in order and hashed entry by entry, after a snapshot of what came before. */
export class SlotLog {
  readonly #options: SlotLogOptions;
  readonly #keys: LogKeys;
  #position: Position = ORIGIN;
  #snapshot: SnapshotRow = NO_SNAPSHOT;
  #tailBytes = 0;
  #pending: Promise<unknown> = Promise.resolve();
  /** When each entry was appended that is not safe yet, in order, by the monotonic clock. */
  readonly #unsafeSince: number[] = [];
  #lost: { readonly error: unknown } | undefined;

  constructor(options: SlotLogOptions) {
    this.#options = options;
    this.#keys = new LogKeys(options.prefix, options.slot);
  }

  /**
   * Reads the entries that a copy lacks, and goes on after them; waits while the engine is away.
   * @param copy position of a copy on this disk
   * @returns whether the copy can be kept, and the entries to apply to it, or to an empty one
   * @throws LogDamagedError with the position
   */
  async open(copy: Position | undefined): Promise<{ kept: boolean; entries: AsyncGenerator<Uint8Array> }> {
    const { kv, log, pause } = this.#options;
    const read: Kv['range'] = (from, to, limit) =>
      untilAnswered(
        () => kv.range(from, to, limit),
        ({ message }) => log?.({ event: 'log_answer_lost', error: message }),
        pause,
      );
    const reader = new LogReader({ read, keys: this.#keys });
    const { kept, entries } = await reader.open(copy);
    this.#snapshot = reader.snapshot;
    return { kept, entries: this.#followed(reader, entries) };
  }

  /** The position after everything that was read or appended. */
  get position(): Position {
    return this.#position;
  }

  /** Takes the next entry. It is `safe` once most members have it on their disks. @throws Error for one that is too large */
  append(payload: Uint8Array): { readonly position: Position; readonly safe: Promise<void> } {
    if (this.#lost) throw this.#lost.error;
    if (payload.length > ENTRY_BYTES_MAX)
      throw new Error(`a transaction of ${payload.length} bytes is too large for the log`);
    const { position, bytes } = linked(this.#position, payload);
    this.#position = position;
    this.#tailBytes += bytes.length;
    const { commits, fence } = this.#options;
    const safe = commits.add(fence, this.#keys.entry(position.number), bytes);
    this.#unsafeSince.push(performance.now());
    const answered = () => void this.#unsafeSince.shift();
    safe.then(answered, (error: unknown) => {
      answered();
      this.abandon(error);
    });
    this.#pending = safe;
    return { position, safe };
  }

  /** Resolves once the log has everything that was appended until now. @throws why it never will */
  async stable(): Promise<void> {
    await this.#pending;
    if (this.#lost) throw this.#lost.error;
  }

  /** Age of the oldest appended entry that is not safe, in milliseconds; 0 when all are. */
  get lagMs(): number {
    const [since] = this.#unsafeSince;
    return since === undefined ? 0 : performance.now() - since;
  }

  /** Nothing more is appended: another process owns the slot, or its copy cannot follow. */
  abandon(error: unknown): void {
    if (this.#lost) return;
    this.#lost = { error };
    this.#options.onLost(error);
  }

  /** Whether it would be worth to replace the entries by a snapshot. */
  get snapshotIsDue(): boolean {
    return !this.#lost && this.#tailBytes > Math.max(TAIL_BYTES_MIN, this.#snapshot.bytes);
  }

  /**
   * Replaces the entries up to `position` by a snapshot. @param parts of everything up to there, each at most `ENTRY_BYTES_MAX`
   * @throws FencedError, AnswerLostError; the log is then as it was
   */
  async trim(position: Position, parts: Iterable<Uint8Array>): Promise<void> {
    const { kv, fence } = this.#options;
    const tailBytes = this.#tailBytes;
    const keys = this.#keys;
    const [former] = await kv.range(keys.snapshot, `${keys.snapshot}\0`);
    const current = parseSnapshot(former);
    const trimmed = (snapshot: SnapshotRow) => {
      this.#snapshot = snapshot;
      this.#tailBytes -= tailBytes;
    };
    // Its parts are never written over: they would be lost if the rest did not follow.
    if (current.number === position.number) return trimmed(current);
    const digests: string[] = [];
    let bytes = 0;
    for (const part of parts) {
      const key = this.#keys.part(position.number, digests.length);
      await this.#fenced(() => kv.commit({ when: [fence], puts: [{ key, value: part }] }));
      digests.push(hashOf(part));
      bytes += part.length;
    }
    const snapshot: SnapshotRow = { ...position, format: SNAPSHOT_FORMAT, bytes, parts: digests };
    await this.#fenced(() =>
      kv.commit({
        // An attempt that arrives late must not replace a later snapshot, whose entries are gone.
        when: [fence, { key: keys.snapshot, revision: former?.revision ?? 0 }],
        puts: [{ key: keys.snapshot, value: formatSnapshot(snapshot) }],
        deletes: [
          { from: keys.entries, to: keys.entry(position.number + 1) },
          // Parts of the former snapshot, and of one that was never finished.
          { from: keys.parts, to: keys.partsOf(position.number) },
          { from: keys.partsOf(position.number + 1), to: behind(keys.parts) },
        ],
      }),
    );
    trimmed(snapshot);
  }

  async #fenced(commit: () => Promise<{ readonly done: boolean }>): Promise<void> {
    if ((await commit()).done) return;
    throw new FencedError(`${this.#options.fence.key} belongs to another process now`);
  }

  async *#followed(reader: LogReader, entries: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const entry of entries) {
      this.#position = reader.position;
      yield entry;
    }
    this.#position = reader.position;
    this.#tailBytes = reader.tailBytes;
  }
}
