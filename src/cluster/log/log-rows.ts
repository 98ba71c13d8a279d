import { behind, type KvRow } from '../stores/kv.ts';
import { LogDamagedError, linked, ORIGIN, type Position, unlinked } from './chain.ts';

/** A snapshot's row. */
export interface SnapshotRow extends Position {
  readonly format: number;
  readonly bytes: number;
  /** SHA-256 of each part, hexadecimal. */
  readonly parts: readonly string[];
}

/** Format of a snapshot's row. */
export const SNAPSHOT_FORMAT = 1;
export const NO_SNAPSHOT: SnapshotRow = { ...ORIGIN, format: SNAPSHOT_FORMAT, bytes: 0, parts: [] };
const NUMBER_DIGITS = 16;

export function formatSnapshot(snapshot: SnapshotRow): Uint8Array {
  return linked(ORIGIN, Buffer.from(JSON.stringify(snapshot))).bytes;
}

/** @param row where there is one @throws LogDamagedError */
export function parseSnapshot(row: KvRow | undefined): SnapshotRow {
  if (!row) return NO_SNAPSHOT;
  const snapshot = JSON.parse(unlinked(ORIGIN, row.value, row.key).payload.toString()) as SnapshotRow;
  if (snapshot.format !== SNAPSHOT_FORMAT)
    throw new LogDamagedError(`${row.key} has format ${snapshot.format}: it needs a newer Farthing`);
  return snapshot;
}

/** Keys of a slot's log, below a prefix: `log/<slot>/<number>`, `snap/<slot>`, `part/<slot>/<number>/<part>`. */
export class LogKeys {
  readonly snapshot: string;
  /** Prefix of the keys of all entries. */
  readonly entries: string;
  /** Prefix of the keys of all parts of snapshots. */
  readonly parts: string;

  constructor(prefix: string, slot: number) {
    this.snapshot = `${prefix}snap/${slot}`;
    this.entries = `${prefix}log/${slot}/`;
    this.parts = `${prefix}part/${slot}/`;
  }

  entry(number: number): string {
    return this.entries + numbered(number);
  }

  /** Behind all entries. */
  get end(): string {
    return behind(this.entries);
  }

  /** Prefix of the keys of one snapshot's parts. */
  partsOf(number: number): string {
    return `${this.parts}${numbered(number)}/`;
  }

  part(number: number, part: number): string {
    return this.partsOf(number) + numbered(part);
  }
}

/** Digits that sort as the number does. */
function numbered(number: number): string {
  return String(number).padStart(NUMBER_DIGITS, '0');
}
