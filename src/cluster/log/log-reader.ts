import type { Kv, KvRow } from '../stores/kv.ts';
import { hashOf, hashOfEntry, LogDamagedError, ORIGIN, type Position, unlinked } from './chain.ts';
import { type LogKeys, NO_SNAPSHOT, parseSnapshot, type SnapshotRow } from './log-rows.ts';

export interface LogReaderOptions {
  /** Reads rows. What it throws ends the reading. */
  readonly read: Kv['range'];
  readonly keys: LogKeys;
  /** Entries that are read at a time. */
  readonly page?: number;
}

const PAGE = 256;

/** Reads a slot's log: its snapshot, and the entries after it, each checked against the one before. */
export class LogReader {
  readonly #options: LogReaderOptions;
  #position: Position = ORIGIN;
  #snapshot = NO_SNAPSHOT;
  #tailBytes = 0;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /**
   * @param copy position of an existing copy
   * @returns whether the copy can be kept, and the entries to apply to it, or to an empty one
   * @throws LogDamagedError with the position; so does the iteration, also where an owner truncates the log while it is read
   */
  async open(copy: Position | undefined): Promise<{ kept: boolean; entries: AsyncGenerator<Uint8Array> }> {
    // Together, since a client may wait.
    const [snapshot, own, next] = await Promise.all([
      this.#readSnapshot(),
      copy && this.#entry(copy.number),
      copy && this.#page(copy.number),
    ]);
    this.#snapshot = snapshot;
    const kept = copy !== undefined && isIn(snapshot, own, copy);
    return { kept, entries: kept ? this.#entriesAfter(copy, next) : this.#everything() };
  }

  /** The position after everything that was read. */
  get position(): Position {
    return this.#position;
  }

  /** The snapshot at the last `open`. */
  get snapshot(): SnapshotRow {
    return this.#snapshot;
  }

  /** Size of the entries that were read. */
  get tailBytes(): number {
    return this.#tailBytes;
  }

  async #readSnapshot(): Promise<SnapshotRow> {
    const { read, keys } = this.#options;
    const [row] = await read(keys.snapshot, `${keys.snapshot}\0`);
    return parseSnapshot(row);
  }

  async #entry(number: number): Promise<KvRow | undefined> {
    const { read, keys } = this.#options;
    const key = keys.entry(number);
    return (await read(key, `${key}\0`))[0];
  }

  /** Entries after one. */
  #page(number: number): Promise<KvRow[]> {
    const { read, keys, page = PAGE } = this.#options;
    return read(keys.entry(number + 1), keys.end, page);
  }

  async *#everything(): AsyncGenerator<Uint8Array> {
    const { read, keys } = this.#options;
    const { number, hash, parts } = this.#snapshot;
    for (const [index, digest] of parts.entries()) {
      const key = keys.part(number, index);
      const [row] = await read(key, `${key}\0`);
      if (!row || hashOf(row.value) !== digest)
        throw new LogDamagedError(`${key} is not the part of its snapshot: the log is damaged`);
      yield row.value;
    }
    yield* this.#entriesAfter({ number, hash });
  }

  /** @param first page of them, where it has been read */
  async *#entriesAfter(start: Position, first?: readonly KvRow[]): AsyncGenerator<Uint8Array> {
    const { keys, page = PAGE } = this.#options;
    this.#position = start;
    this.#tailBytes = 0;
    for (let rows = first; ; rows = undefined) {
      rows ??= await this.#page(this.#position.number);
      for (const { key, value } of rows) {
        if (key !== keys.entry(this.#position.number + 1))
          throw new LogDamagedError(`entry ${this.#position.number + 1} is missing before ${key}`);
        const { position, payload } = unlinked(this.#position, value, key);
        this.#position = position;
        this.#tailBytes += value.length;
        yield payload;
      }
      if (rows.length < page) break;
    }
    // Entries that a later snapshot replaced are missing here.
    const { number } = await this.#readSnapshot();
    if (number > this.#position.number)
      throw new LogDamagedError(
        `${keys.snapshot} is of entry ${number}: the log was shortened while it was read`,
      );
  }
}

/** Whether a log contains a position. @param own the entry of that number */
function isIn(snapshot: SnapshotRow, own: KvRow | undefined, { number, hash }: Position): boolean {
  if (number <= snapshot.number) return number === snapshot.number && hash === snapshot.hash;
  return own !== undefined && hashOfEntry(own.value, own.key) === hash;
}

/** A copy that follows a slot's log. */
export interface LogCopy {
  /** Its position in the log; undefined for an empty one. */
  readonly position: Position | undefined;
  /** @param position after the last entry; undefined while more are to come, without which these are useless */
  apply(entries: readonly Uint8Array[], position: Position | undefined): Promise<void>;
  /** Makes it empty. */
  clear(): Promise<void>;
}

/** Bytes of entries that a copy applies in one transaction. */
const APPLIED_BYTES_MAX = 4 * 2 ** 20;

/**
 * Brings a copy to the end of its log: missing entries are applied, or, where the log does not contain its position, it begins again.
 * @throws errors of the log and the copy
 */
export async function catchUp(copy: LogCopy, log: Pick<LogReader, 'open' | 'position'>): Promise<void> {
  const { kept, entries } = await log.open(copy.position);
  if (!kept && copy.position !== undefined) await copy.clear();
  let group: Uint8Array[] = [];
  let bytes = 0;
  for await (const entry of entries) {
    group.push(entry);
    bytes += entry.length;
    if (bytes < APPLIED_BYTES_MAX) continue;
    await copy.apply(group, undefined);
    group = [];
    bytes = 0;
  }
  await copy.apply(group, log.position);
}
