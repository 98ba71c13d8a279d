import { GroupCommit } from '../../../src/cluster/group-commit.ts';
import {
  AnswerLostError,
  type Kv,
  type Leases,
  untilAnswered,
  type Watches,
} from '../../../src/cluster/kv.ts';
import { Lease } from '../../../src/cluster/lease.ts';
import { Membership } from '../../../src/cluster/membership.ts';
import {
  type Claim,
  OwnedError,
  releaseClaim,
  releaseStray,
  tryToClaim,
} from '../../../src/cluster/slot-claims.ts';
import { SlotLog } from '../../../src/cluster/slot-log.ts';
import { agreeOnConfig, prefixOf } from '../../../src/cluster/slot-logs.ts';
import { type Books, CLUSTER, entryOf, wordsIn } from './books.ts';
import type { VirtualProcess } from './virtual-time.ts';

/** Faults that are planted to see whether they are found. */
export type Plant =
  | 'writes without a fence'
  | 'takes a lost answer for a yes'
  | 'answers without a lease'
  | 'answers before the log has it'
  | 'claims without a lease';

export interface NodeOptions {
  readonly id: string;
  readonly slots: number;
  readonly process: VirtualProcess;
  readonly kv: Kv & Leases & Watches;
  readonly books: Books;
  readonly plant: Plant | undefined;
  /** The process has ended: by an error that is a fault of the code, or as it was told. */
  readonly onEnd: (fault: unknown) => void;
}

export const LEASE_SECONDS = 5;
const LOOK_MS = 400;
/** The last ones of a slot. */
const READ_WORDS = 10;

interface Held {
  readonly claim: Claim;
  readonly log: SlotLog;
  /** All words of the slot. */
  readonly words: string[];
  trimming: boolean;
}

/** One run of a server, without its disk: the books are made again from the log each time. Slots come and go as in `SharedSlots`. */
export class SimulatedNode {
  readonly #options: NodeOptions;
  readonly #held = new Map<number, Held>();
  readonly #moving = new Set<number>();
  #lease: Lease | undefined;
  #membership: Membership | undefined;
  #commits: GroupCommit | undefined;
  #isLeaving = false;
  #words = 0;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#run().catch((error: unknown) => this.#end(error));
  }

  get has(): ReadonlySet<number> {
    return new Set(this.#held.keys());
  }

  /** A client writes. */
  write(slot: number): void {
    const { id, plant, books } = this.#options;
    const held = this.#held.get(slot);
    if (!held) return;
    this.#words += 1;
    const word = `${id}-${held.claim.fence.revision}-${this.#words}`;
    // What is not written is not told.
    this.#write(slot, held, word).catch(() => undefined);
    if (plant === 'answers before the log has it') books.told(slot, held.claim.fence, [word]);
  }

  /** A client reads. */
  read(slot: number): void {
    const held = this.#held.get(slot);
    if (held) this.#read(slot, held).catch(() => undefined);
  }

  /** Replaces the entries of a slot's log by a snapshot. */
  trim(slot: number): void {
    const held = this.#held.get(slot);
    if (!held || held.trimming) return;
    held.trimming = true;
    const { log, words } = held;
    const position = log.position;
    const part = entryOf(words);
    log
      .stable()
      .then(() => log.trim(position, [part]))
      // Fenced, or without an answer: the log is as it was.
      .catch(() => undefined)
      .finally(() => {
        held.trimming = false;
      });
  }

  /** It gives everything to the others and ends. */
  leave(): void {
    if (this.#isLeaving || !this.#membership) return;
    this.#isLeaving = true;
    const { process } = this.#options;
    const left = async () => {
      await this.#membership!.setReady(false);
      for (;;) {
        this.#adjust();
        if (this.#held.size === 0 && this.#moving.size === 0) break;
        await process.pause(LOOK_MS);
      }
      await this.#lease!.end();
      this.#end(undefined);
    };
    left().catch((error: unknown) => this.#end(error));
  }

  async #run(): Promise<void> {
    const { id, slots, process, plant } = this.#options;
    const { pause } = process;
    const kv = plant === undefined ? this.#options.kv : planted(this.#options.kv, plant);
    const answered = <T>(ask: () => Promise<T>) => untilAnswered(ask, () => undefined, pause);
    await answered(() => agreeOnConfig({ kv, cluster: CLUSTER, slots }));
    const onLost = () => this.#end(undefined);
    const { moment: now, every } = process;
    const lease = await answered(() =>
      Lease.take({ leases: kv, seconds: LEASE_SECONDS, onLost, now, every }),
    );
    const row = { url: `http://${id}`, version: '1', weight: 1, since: '', ready: false, formats: [2] };
    const membership = await answered(() =>
      Membership.join({
        kv,
        watches: this.#options.kv,
        cluster: CLUSTER,
        node: id,
        row,
        lease,
        log: () => undefined,
        lookMs: LOOK_MS,
        pause,
      }),
    );
    this.#lease = lease;
    this.#membership = membership;
    this.#commits = new GroupCommit({ kv, pause });
    await membership.setReady(true);
    for (;;) {
      this.#adjust();
      await membership.looked;
    }
  }

  #adjust(): void {
    const { slots, id } = this.#options;
    const membership = this.#membership!;
    const { owners } = membership.view;
    for (let slot = 0; slot < slots; slot += 1) {
      if (this.#moving.has(slot)) continue;
      const placed = this.#isLeaving ? undefined : membership.placed(slot);
      const owner = owners.get(slot);
      if (this.#held.has(slot)) {
        if (placed !== id && (placed !== undefined || this.#isLeaving)) this.#move(slot, this.#giveUp(slot));
      } else if (placed === id && (owner === undefined || owner === id)) this.#move(slot, this.#take(slot));
      else if (owner === id) this.#move(slot, this.#giveStrayBack(slot));
    }
  }

  #move(slot: number, moved: Promise<void>): void {
    this.#moving.add(slot);
    moved.catch((error: unknown) => this.#end(error)).finally(() => this.#moving.delete(slot));
  }

  async #take(slot: number): Promise<void> {
    const { id, kv, process, plant } = this.#options;
    const lease = plant === 'claims without a lease' ? {} : { lease: async () => this.#lease! };
    try {
      const claiming = { kv, prefix: prefixOf(CLUSTER), node: id, ...lease };
      const claim = (await tryToClaim(claiming, [slot]))?.get(slot);
      if (!claim) return;
      const { pause } = process;
      const log = new SlotLog({
        kv,
        prefix: prefixOf(CLUSTER),
        slot,
        fence: claim.fence,
        commits: this.#commits!,
        onLost: () => this.#end(undefined),
        pause,
      });
      const words: string[] = [];
      for await (const entry of (await log.open(undefined)).entries) words.push(...wordsIn(entry));
      this.#held.set(slot, { claim, log, words, trimming: false });
    } catch (error) {
      // Without the lease another server may shorten the log while it is read.
      if (!(error instanceof OwnedError || error instanceof AnswerLostError) && this.#lease!.holds)
        throw error;
    }
  }

  async #giveStrayBack(slot: number): Promise<void> {
    const { id, kv } = this.#options;
    await releaseStray({ kv, prefix: prefixOf(CLUSTER), node: id }, slot).catch((error: unknown) => {
      if (!(error instanceof AnswerLostError)) throw error;
    });
  }

  async #giveUp(slot: number): Promise<void> {
    const { kv, process } = this.#options;
    const { claim, log } = this.#held.get(slot)!;
    this.#held.delete(slot);
    await log.stable();
    await untilAnswered(
      () => releaseClaim(kv, claim),
      () => undefined,
      process.pause,
    );
  }

  async #read(slot: number, held: Held): Promise<void> {
    const told = held.words.slice(-READ_WORDS);
    await held.log.stable();
    if (this.#mayTell(slot, held)) this.#options.books.told(slot, held.claim.fence, told);
  }

  async #write(slot: number, held: Held, word: string): Promise<void> {
    const { safe } = held.log.append(entryOf([word]));
    held.words.push(word);
    await safe;
    await held.log.stable();
    if (!this.#mayTell(slot, held)) return;
    this.#options.books.acknowledge(slot, word);
    this.#options.books.told(slot, held.claim.fence, [word]);
  }

  /** As `stable` of a server's store. */
  #mayTell(slot: number, held: Held): boolean {
    // A slot that was given up tells nothing.
    if (this.#held.get(slot) !== held) return false;
    return this.#lease!.holds || this.#options.plant === 'answers without a lease';
  }

  #end(fault: unknown): void {
    const { process, onEnd } = this.#options;
    if (process.hasEnded) return;
    process.hasEnded = true;
    onEnd(fault);
  }
}

/** A way to the engine that spoils what goes over it. */
function planted(kv: Kv & Leases, plant: Plant): Kv & Leases {
  const isEntry = (key: string) => key.startsWith(`${prefixOf(CLUSTER)}log/`);
  const over: Kv & Leases = Object.create(kv);
  over.commit = (transaction) => {
    if (!transaction.puts?.some(({ key }) => isEntry(key))) return kv.commit(transaction);
    if (plant === 'writes without a fence') return kv.commit({ ...transaction, when: [] });
    const commit = kv.commit(transaction);
    if (plant !== 'takes a lost answer for a yes') return commit;
    return commit.catch(() => ({ done: true, revision: 0 }));
  };
  for (const name of ['range', 'ranges', 'grant', 'renew', 'revoke'] as const)
    Object.assign(over, { [name]: (kv[name] as (...words: unknown[]) => unknown).bind(kv) });
  return over;
}
