import { rm } from 'node:fs/promises';
import type { RawStore, Store, Table } from './store.ts';

/** A place in a log: how many entries come until then, and the hash of the last. */
export interface Position {
  readonly number: number;
  /** Hexadecimal. */
  readonly hash: string;
}

/** The table of a store that says how far it has followed its log. */
export const POSITION_TABLE = 'log_position';
const POSITION = 'position';
/** Marks an incomplete copy: no log entry has this position. */
const INCOMPLETE: Position = { number: -1, hash: '' };

/** The place up to which a store has followed its log; undefined for one without a log. */
export function positionOf(store: Store): Position | undefined {
  return positions(store).get(POSITION);
}

/** Within a transaction. @param position undefined while a copy is being made */
export function keepPosition(store: Store, position: Position | undefined): void {
  void positions(store).put(POSITION, position ?? INCOMPLETE);
}

/** Beside a store that is a copy of a log: the boot of the machine in which it was written. */
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
