import { hashOfEntry, ORIGIN, type Position } from '../../../src/cluster/log/chain.ts';
import { decodeChanges } from '../../../src/cluster/log/changes.ts';
import { prefixOf } from '../../../src/cluster/log/slot-logs.ts';
import { OWNER_ROWS } from '../../../src/cluster/members/node-rows.ts';
import type { KvCondition, KvTransaction } from '../../../src/cluster/stores/kv.ts';
import type { SimulatedEngine } from './engine.ts';

export const CLUSTER = 'c';

/** Tables of a slot's state: words that clients write; the Tenants that have content, those that end, and their receipts. */
export const WORDS = 'words';
export const HEADS = 'content';
export const ENDING = 'ending';
export const RECEIPTS = 'receipts';

/** The rows of a state, each under `<table>/<key>`. */
export type Rows = ReadonlyMap<string, Uint8Array>;

/** Who has copies of a Tenant's content when its receipt is signed. */
export interface SignedCopies {
  readonly removed: readonly string[];
  readonly left: readonly string[];
}

/** An entry of the log about a row, and the value that it left. */
interface Told {
  readonly number: number;
  readonly value: Uint8Array | undefined;
}

/** The engine's history of a slot. */
class SlotHistory {
  /** Words that were ever in the log. */
  readonly words = new Set<string>();
  readonly hashes: string[] = [ORIGIN.hash];
  readonly rows = new Map<string, Told[]>();
  /** The last entry when each claim was made, by its revision. */
  readonly claimedAt = new Map<number, number>();
  snapshot: Position = ORIGIN;

  get last(): number {
    return this.hashes.length - 1;
  }

  /** Names a row in which a state differs from that behind an entry. */
  differing(number: number, state: Rows): string | undefined {
    let count = 0;
    for (const [row, told] of this.rows) {
      const value = told.findLast((change) => change.number <= number)?.value;
      if (value) count += 1;
      if (!isSame(value, state.get(row))) return row;
    }
    return count === state.size ? undefined : 'a row of no log';
  }
}

/** Two hashes come before what an entry holds. */
const LINK_BYTES = 64;

/** The knowledge of an observer of the engine, all disks and all clients, against which the servers' answers and stores are checked. */
export class Books {
  /** Words that were acknowledged to a client, by slot. */
  readonly acknowledged: ReadonlySet<string>[];
  /** Content of a slot's Tenants on the servers' disks. */
  contentOf: () => Iterable<{ id: string; tenants: Iterable<string> }> = () => [];
  readonly #engine: SimulatedEngine;
  readonly #slots: readonly SlotHistory[];
  /** Every entry that ever was, by its key. */
  readonly #entries = new Map<string, Uint8Array>();
  readonly #receipts = new Map<string, SignedCopies>();
  answers = 0;
  claims = 0;
  /** Times that a server went on from a copy of what another had. */
  takeovers = 0;
  /** Other servers that receipts name as having removed their copies. */
  removals = 0;
  /** The first thing that does not hold. */
  violation: string | undefined;

  constructor(engine: SimulatedEngine, slots: number) {
    this.#engine = engine;
    this.acknowledged = Array.from({ length: slots }, () => new Set<string>());
    this.#slots = Array.from({ length: slots }, () => new SlotHistory());
    engine.onCommit = (transaction, revision) => this.#see(transaction, revision);
  }

  /** A server answers: what it says is in the log, and nobody else has had the slot since. */
  told(slot: number, fence: KvCondition, words: readonly string[]): void {
    this.answers += 1;
    const owner = this.#engine.rows.get(fence.key);
    if (owner && owner.revision > fence.revision) this.violated(`slot ${slot} is answered by a former owner`);
    for (const word of words)
      if (!this.#slots[slot]!.words.has(word)) this.violated(`${word} is told and not in the log`);
  }

  /** A server says that a word is written. */
  acknowledge(slot: number, word: string): void {
    (this.acknowledged[slot] as Set<string>).add(word);
  }

  /** A server that does not have a slot has copied it so far. */
  copied(slot: number, { number, hash }: Position, state: Rows): void {
    const history = this.#slots[slot]!;
    if (history.hashes[number] !== hash) this.violated(`a copy of slot ${slot} is ahead of its log`);
    const row = history.differing(number, state);
    if (row !== undefined) this.violated(`a copy of slot ${slot} is not what its log says: ${row}`);
  }

  /** A server that has claimed a slot goes on from this state. */
  goesOn(
    slot: number,
    { fence, position, isCopy }: { fence: KvCondition; position: Position; isCopy: boolean },
    state: Rows,
  ): void {
    const history = this.#slots[slot]!;
    const isOwner = this.#engine.rows.get(fence.key)?.revision === fence.revision;
    const reached = history.claimedAt.get(fence.revision);
    if (isOwner && position.number !== reached)
      this.violated(`slot ${slot} goes on at ${position.number} of a log that ends at ${reached}`);
    const row = history.differing(position.number, state);
    if (row !== undefined) this.violated(`slot ${slot} goes on from what its log does not say: ${row}`);
    if (isCopy) this.takeovers += 1;
  }

  /** A server tells that a Tenant has ended, and who has removed what it had of it. */
  ended(tenant: string, copies: SignedCopies): void {
    this.#receipts.set(tenant, copies);
    this.removals += copies.removed.length;
    for (const { id, tenants } of this.contentOf())
      for (const kept of tenants) if (kept === tenant) this.keeps(id, tenant);
  }

  /** A server's disk has content of a Tenant. */
  keeps(id: string, tenant: string): void {
    const receipt = this.#receipts.get(tenant);
    if (!receipt || receipt.left.includes(id)) return;
    const said = receipt.removed.includes(id) ? 'says that it removed it' : 'does not name it';
    this.violated(`${id} has content of ${tenant}, and the receipt ${said}`);
  }

  /** The engine's log of a slot: its snapshot, and the hash of an entry. */
  logAt(slot: number, number: number): { snapshot: Position; hash: string | undefined } {
    const { snapshot, hashes } = this.#slots[slot]!;
    return { snapshot, hash: hashes[number] };
  }

  violated(what: string): void {
    this.violation ??= what;
  }

  #see({ puts = [] }: KvTransaction, revision: number): void {
    const slotIn = (key: string, name: string) => {
      const prefix = `${prefixOf(CLUSTER)}${name}/`;
      return key.startsWith(prefix) ? Number(key.slice(prefix.length).split('/', 1)[0]) : undefined;
    };
    for (const { key, value } of puts) {
      const owned = key.startsWith(OWNER_ROWS.range(CLUSTER).from) ? slotIn(key, 'owner') : undefined;
      if (owned !== undefined) {
        this.claims += 1;
        this.#slots[owned]!.claimedAt.set(revision, this.#slots[owned]!.last);
      }
      const trimmed = slotIn(key, 'snap');
      if (trimmed !== undefined)
        this.#slots[trimmed]!.snapshot = JSON.parse(Buffer.from(value.subarray(LINK_BYTES)).toString());
      const logged = slotIn(key, 'log');
      if (logged !== undefined) this.#seeEntry(this.#slots[logged]!, key, value);
    }
  }

  #seeEntry(history: SlotHistory, key: string, value: Uint8Array): void {
    // The same entry may arrive twice, even after a snapshot has replaced it.
    const former = this.#entries.get(key);
    if (former && Buffer.compare(former, value) !== 0) this.violated(`${key} is written twice`);
    if (former) return;
    this.#entries.set(key, value);
    history.hashes.push(hashOfEntry(value, key));
    for (const { table, key: row, value: left } of decodeChanges(value.subarray(LINK_BYTES))) {
      const name = `${table}/${row}`;
      history.rows.set(name, [...(history.rows.get(name) ?? []), { number: history.last, value: left }]);
      if (table !== WORDS) continue;
      if (history.words.has(row)) this.violated(`${row} is in the log twice`);
      history.words.add(row);
    }
  }
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (!one || !other) return one === other;
  return Buffer.compare(one, other) === 0;
}
