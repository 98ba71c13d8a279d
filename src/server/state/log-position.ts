import { rm } from 'node:fs/promises';
import type { RawStore, Store, Table } from './store.ts';

/** A position in a log: the number of entries up to it, and the hash of the last. */
export interface Position {
  readonly number: number;
  /** Hexadecimal. */
  readonly hash: string;
}

/** The table in which a store records its position in its log. */
export const POSITION_TABLE = 'log_position';
const POSITION = 'position';
/** Marks an incomplete copy: no log entry has this position. */
const INCOMPLETE: Position = { number: -1, hash: '' };

/** A store's position in its log; undefined for one without a log. */
export function positionOf(store: Store): Position | undefined {
  return positions(store).get(POSITION);
}

/** Within a transaction. @param position undefined while a copy is being made */
export function keepPosition(store: Store, position: Position | undefined): void {
  void positions(store).put(POSITION, position ?? INCOMPLETE);
}

/** For a store that is a copy of a log: the file with the boot id of the machine that wrote it. */
export function bootNoteOf(folder: string): string {
  return `${folder}.boot`;
}

/** To be called before a store is written without a log: it can no longer be taken for a copy of one. */
export async function forgetLog(store: RawStore, folder: string): Promise<void> {
  await rm(bootNoteOf(folder), { force: true });
  if (store.names().includes(POSITION_TABLE)) await positions(store).remove(POSITION);
}

function positions(store: Store): Table<Position> {
  return store.table<Position>(POSITION_TABLE);
}
