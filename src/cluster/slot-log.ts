import { hashOf, hashOfEntry, LogDamagedError, linked, ORIGIN, type Position, unlinked } from './chain.ts';
import { FencedError, type GroupCommit } from './group-commit.ts';
import { behind, type Kv, type KvCondition, type KvRow, type Pause, untilAnswered } from './kv.ts';

export interface SlotLogOptions {
  readonly kv: Kv;
  /** What all keys begin with. */
  readonly prefix: string;
  readonly slot: number;
  /** Holds while this process owns the slot. */
  readonly fence: KvCondition;
  readonly commits: GroupCommit;
  /** Called once with why nothing more will get into the log. */
  readonly onLost: (error: unknown) => void;
  readonly log?: (event: object) => void;
  /** Between two attempts to read. */
  readonly pause?: Pause;
}

/** What a snapshot says of itself. */
interface SnapshotRow extends Position {
  readonly format: number;
  readonly bytes: number;
  /** SHA-256 of each part, hexadecimal. */
  readonly parts: readonly string[];
}

const FORMAT = 1;
const NUMBER_DIGITS = 16;
const PAGE = 256;
/** Of what one transaction of the store changes, and of a part of a snapshot. */
export const ENTRY_BYTES_MAX = 2 ** 20 - 4096;
/** A snapshot is due when what came behind the last one is larger than this, and than the snapshot itself. */
const TAIL_BYTES_MIN = 2 ** 20;
const NO_SNAPSHOT: SnapshotRow = { ...ORIGIN, format: FORMAT, bytes: 0, parts: [] };

/**
 * The log of one slot, in order and hashed entry by entry, behind a snapshot of what came before. Keys below the prefix: `log/<slot>/<number>`,
 * `snap/<slot>`, `part/<slot>/<number>/<part>`.
 */
export class SlotLog {
  readonly #options: SlotLogOptions;
  #position: Position = ORIGIN;
  #snapshot = NO_SNAPSHOT;
  #tailBytes = 0;
  #pending: Promise<unknown> = Promise.resolve();
  /** When each entry was appended that is not safe yet, in order, by the monotonic clock. */
  readonly #unsafeSince: number[] = [];
  #lost: { readonly error: unknown } | undefined;

  constructor(options: SlotLogOptions) {
    this.#options = options;
  }

  /**
   * Reads what a copy lacks, and goes on behind it; waits while the engine is away. @param copy the place that a copy on this disk has reached
   * @returns whether the copy can be kept, and what is to be applied then, or to an empty one
   * @throws LogDamagedError with the place
   */
  async open(copy: Position | undefined): Promise<{ kept: boolean; entries: AsyncGenerator<Uint8Array> }> {
    this.#snapshot = await this.#readSnapshot();
    const kept = copy !== undefined && (await this.#has(copy));
    return { kept, entries: kept ? this.#entriesAfter(copy) : this.#everything() };
  }

  /** The place behind everything that was read or appended. */
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
    const safe = commits.add(fence, this.#entryKey(position.number), bytes);
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

  /** For how many milliseconds the oldest entry that was appended is not safe; 0 when all are. */
  get lagMs(): number {
    const [since] = this.#unsafeSince;
    return since === undefined ? 0 : performance.now() - since;
  }

  /** Nothing more is appended: the slot belongs to somebody else, or its copy cannot follow. */
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
    const [former] = await kv.range(this.#snapshotKey, `${this.#snapshotKey}\0`);
    const digests: string[] = [];
    let bytes = 0;
    for (const part of parts) {
      const key = this.#partKey(position.number, digests.length);
      await this.#fenced(() => kv.commit({ when: [fence], puts: [{ key, value: part }] }));
      digests.push(hashOf(part));
      bytes += part.length;
    }
    const snapshot: SnapshotRow = { ...position, format: FORMAT, bytes, parts: digests };
    const [log, part] = [this.#key('log'), this.#key('part')];
    await this.#fenced(() =>
      kv.commit({
        // An attempt that arrives late must not replace a later snapshot, whose entries are gone.
        when: [fence, { key: this.#snapshotKey, revision: former?.revision ?? 0 }],
        puts: [
          { key: this.#snapshotKey, value: linked(ORIGIN, Buffer.from(JSON.stringify(snapshot))).bytes },
        ],
        deletes: [
          { from: log, to: this.#entryKey(position.number + 1) },
          // Parts of the former snapshot, and of one that was never finished.
          { from: part, to: `${part}${numbered(position.number)}/` },
          { from: `${part}${numbered(position.number + 1)}/`, to: behind(part) },
        ],
      }),
    );
    this.#snapshot = snapshot;
    this.#tailBytes -= tailBytes;
  }

  async #fenced(commit: () => Promise<{ readonly done: boolean }>): Promise<void> {
    if ((await commit()).done) return;
    throw new FencedError(`${this.#options.fence.key} belongs to another process now`);
  }

  async #readSnapshot(): Promise<SnapshotRow> {
    const [row] = await this.#read(this.#snapshotKey, `${this.#snapshotKey}\0`);
    if (!row) return NO_SNAPSHOT;
    const snapshot = JSON.parse(unlinked(ORIGIN, row.value, row.key).payload.toString()) as SnapshotRow;
    if (snapshot.format !== FORMAT)
      throw new LogDamagedError(`${row.key} has format ${snapshot.format}: it needs a newer Farthing`);
    return snapshot;
  }

  /** Whether the log leads over this place. */
  async #has({ number, hash }: Position): Promise<boolean> {
    if (number <= this.#snapshot.number)
      return number === this.#snapshot.number && hash === this.#snapshot.hash;
    const key = this.#entryKey(number);
    const [row] = await this.#read(key, `${key}\0`);
    return row !== undefined && hashOfEntry(row.value, key) === hash;
  }

  async *#everything(): AsyncGenerator<Uint8Array> {
    const { number, hash, parts } = this.#snapshot;
    for (const [index, digest] of parts.entries()) {
      const key = this.#partKey(number, index);
      const [row] = await this.#read(key, `${key}\0`);
      if (!row || hashOf(row.value) !== digest)
        throw new LogDamagedError(`${key} is not the part of its snapshot: the log is damaged`);
      yield row.value;
    }
    yield* this.#entriesAfter({ number, hash });
  }

  async *#entriesAfter(start: Position): AsyncGenerator<Uint8Array> {
    this.#position = start;
    this.#tailBytes = 0;
    for (;;) {
      const from = this.#entryKey(this.#position.number + 1);
      const rows = await this.#read(from, behind(this.#key('log')), PAGE);
      for (const { key, value } of rows) {
        if (key !== this.#entryKey(this.#position.number + 1))
          throw new LogDamagedError(`entry ${this.#position.number + 1} is missing before ${key}`);
        const { position, payload } = unlinked(this.#position, value, key);
        this.#position = position;
        this.#tailBytes += value.length;
        yield payload;
      }
      if (rows.length < PAGE) return;
    }
  }

  #read(from: string, to: string, limit?: number): Promise<KvRow[]> {
    const { kv, log, pause } = this.#options;
    return untilAnswered(
      () => kv.range(from, to, limit),
      ({ message }) => log?.({ event: 'log_answer_lost', error: message }),
      pause,
    );
  }

  get #snapshotKey(): string {
    return `${this.#options.prefix}snap/${this.#options.slot}`;
  }

  #key(kind: 'log' | 'part'): string {
    return `${this.#options.prefix}${kind}/${this.#options.slot}/`;
  }

  #entryKey(number: number): string {
    return this.#key('log') + numbered(number);
  }

  #partKey(number: number, part: number): string {
    return `${this.#key('part')}${numbered(number)}/${numbered(part)}`;
  }
}

/** Digits that sort as the number does. */
function numbered(number: number): string {
  return String(number).padStart(NUMBER_DIGITS, '0');
}
