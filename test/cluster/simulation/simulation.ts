import { catchUp } from '../../../src/cluster/log/log-reader.ts';
import { SlotLog } from '../../../src/cluster/log/slot-log.ts';
import { prefixOf } from '../../../src/cluster/log/slot-logs.ts';
import { DRAIN_ROWS, OWNER_ROWS } from '../../../src/cluster/members/node-rows.ts';
import { GroupCommit } from '../../../src/cluster/stores/group-commit.ts';
import { MemoryKv } from '../memory-kv.ts';
import { Books, CLUSTER, WORDS } from './books.ts';
import { type Network, SimulatedEngine, SimulatedKv } from './engine.ts';
import type { Plant } from './plants.ts';
import { MemoryStore, SimulatedCopy, SimulatedDisk } from './simulated-disk.ts';
import { type ClientWork, LEASE_SECONDS, SimulatedNode } from './simulated-node.ts';
import { type PeerPlace, SimulatedPeers } from './simulated-peers.ts';
import { Dice, VirtualProcess, VirtualTime } from './virtual-time.ts';

export interface SimulationOptions {
  readonly nodes?: number;
  readonly slots?: number;
  readonly plant?: Plant;
  /** How much faster than the engine's the slowest clock may be, and how much slower: .1 is a tenth. */
  readonly clockError?: number;
}

/** Result of a run. */
export interface Simulated {
  /** The violated property; undefined where all hold. */
  readonly violation: string | undefined;
  readonly answers: number;
  readonly acknowledged: number;
  readonly claims: number;
  /** Times that a server went on from a copy of what another had. */
  readonly takeovers: number;
  /** Copies that receipts name as removed. */
  readonly removals: number;
}

const TROUBLE_MS = 30_000;
/** After the trouble a slot is owned again within the lease, what the engine adds, some looks and the reading of its log. */
const OWNED_AGAIN_MS = 1000 * LEASE_SECONDS + 3000;
/** A slot may be given to a server that has come at that moment. */
const MOVE_MS = 1000;
const QUIET_MS = 2000;

const CLIENT_WORK = (
  [
    ['read', 11],
    ['write', 6],
    ['rent', 2],
    ['end', 1],
    ['trim', 1],
  ] as [ClientWork, number][]
).flatMap(([work, share]) => Array<ClientWork>(share).fill(work));

/** A server's place in the cluster, whichever process runs there. */
interface Place {
  readonly id: string;
  readonly network: Network;
  readonly speed: number;
  readonly disk: SimulatedDisk;
  node: SimulatedNode | undefined;
  process: VirtualProcess | undefined;
}

/** Servers that share slots for half a minute of trouble, and then a while of peace. The same seed gives the same run. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Simulated> {
  const simulation = new Simulation(seed, options);
  return simulation.run();
}

class Simulation {
  readonly #dice: Dice;
  readonly #time: VirtualTime;
  readonly #engine: SimulatedEngine;
  readonly #books: Books;
  readonly #places: readonly Place[];
  readonly #options: Required<Omit<SimulationOptions, 'plant'>> & Pick<SimulationOptions, 'plant'>;

  constructor(seed: number, { nodes = 3, slots = 4, clockError = 0.1, plant }: SimulationOptions) {
    this.#options = { nodes, slots, clockError, plant };
    this.#dice = new Dice(seed);
    this.#time = new VirtualTime(this.#dice);
    this.#engine = new SimulatedEngine(this.#time, this.#dice);
    this.#books = new Books(this.#engine, slots);
    this.#places = Array.from({ length: nodes }, (_, number) => ({
      id: `n${number}`,
      network: { cut: 'none', badness: 0, lateUntil: TROUBLE_MS },
      speed: this.#dice.between(1 - clockError, 1 + clockError),
      disk: new SimulatedDisk(slots),
      node: undefined,
      process: undefined,
    }));
    this.#books.contentOf = () =>
      this.#places.map(({ id, disk }) => ({
        id,
        tenants: disk.folders.flatMap(({ content }) => [...content]),
      }));
  }

  async run(): Promise<Simulated> {
    for (const place of this.#places) this.#start(place);
    this.#clients();
    this.#trouble();
    await this.#runUntil(TROUBLE_MS);
    this.#heal();
    await this.#runUntil(TROUBLE_MS + OWNED_AGAIN_MS);
    const unowned = this.#unowned();
    await this.#runUntil(TROUBLE_MS + OWNED_AGAIN_MS + MOVE_MS);
    for (const slot of this.#unowned())
      if (unowned.includes(slot)) this.#books.violated(`slot ${slot} is with nobody after the trouble`);
    const before = this.#books.acknowledged.map(({ size }) => size);
    for (let milliseconds = 0; milliseconds < QUIET_MS - MOVE_MS; milliseconds += MOVE_MS / 4)
      this.#time.in(milliseconds, () => this.#writeAll());
    await this.#runUntil(TROUBLE_MS + OWNED_AGAIN_MS + MOVE_MS + QUIET_MS);
    if (!this.#isOver()) await this.#checkLogs(before);
    const { violation, acknowledged, answers, claims, takeovers, removals } = this.#books;
    return {
      violation,
      answers,
      claims,
      takeovers,
      removals,
      acknowledged: acknowledged.reduce((sum, { size }) => sum + size, 0),
    };
  }

  #runUntil(end: number): Promise<void> {
    return this.#time.runUntil(end, () => this.#isOver());
  }

  #isOver(): boolean {
    return this.#books.violation !== undefined;
  }

  /** Until the trouble is over, at most. */
  #while(low: number, high: number): number {
    return Math.min(this.#dice.between(low, high), TROUBLE_MS - this.#time.now);
  }

  #start(place: Place): void {
    const [time, dice, { network }] = [this.#time, this.#dice, place];
    const origins = { monotonic: dice.between(0, 1e6), wall: dice.between(1e12, 2e12) };
    const process = new VirtualProcess(time, place.speed, origins);
    place.process = process;
    place.node = new SimulatedNode({
      id: place.id,
      slots: this.#options.slots,
      process,
      dice,
      disk: place.disk,
      kv: new SimulatedKv(this.#engine, { time, dice, process, network }),
      calls: new SimulatedPeers({ time, dice, process, network, peer: (id) => this.#peer(id) }),
      books: this.#books,
      plant: this.#options.plant,
      onEnd: (fault) => {
        if (fault !== undefined) this.#books.violated(String(fault));
        // Its supervisor starts it again.
        time.in(dice.between(200, 1500), () => this.#start(place));
      },
    });
  }

  #peer(id: string): PeerPlace {
    const { process, node } = this.#places.find((place) => place.id === id)!;
    return { process, answer: node && ((...words) => node.answer(...words)) };
  }

  /** Kills a process, and has its supervisor start another one. */
  #kill(place: Place, awayMs: number): void {
    if (!place.process || place.process.hasEnded) return;
    place.process.hasEnded = true;
    this.#time.in(awayMs, () => this.#start(place));
  }

  #clients(): void {
    const next = () =>
      this.#time.in(this.#dice.between(10, 60), () => {
        const slot = Math.floor(this.#dice.between(0, this.#options.slots));
        // One slot is seldom written: what is read there waits for nothing.
        const isQuiet = slot === 0 && this.#dice.happens(0.9);
        const work = isQuiet ? 'read' : this.#dice.oneOf(CLIENT_WORK);
        for (const { node, process } of this.#places)
          if (node) this.#time.in(0, () => node.serve(work, slot), process);
        next();
      });
    next();
  }

  #trouble(): void {
    const next = () =>
      this.#time.in(this.#dice.between(200, 3000), () => {
        if (this.#time.now > TROUBLE_MS - 1) return;
        this.#trip();
        next();
      });
    next();
  }

  #trip(): void {
    const [dice, time] = [this.#dice, this.#time];
    const place = dice.oneOf(this.#places);
    const { id, network, process, node } = place;
    const kinds = [
      () => this.#kill(place, this.#while(100, 8000)),
      () => {
        this.#kill(place, this.#while(100, 8000));
        if (process?.hasEnded) place.disk.clear();
      },
      () => process?.standStill(this.#while(100, 12_000), false),
      () => process?.standStill(this.#while(100, 12_000), dice.happens(0.5)),
      () => this.#engine.goDown(this.#while(100, 6000)),
      () => {
        network.cut = dice.oneOf(['out', 'back', 'both']);
        time.in(dice.between(300, 9000), () => {
          network.cut = 'none';
        });
      },
      () => {
        network.badness = dice.between(0.02, 0.5);
        time.in(dice.between(500, 9000), () => {
          network.badness = 0;
        });
      },
      () => node?.leave(),
      () => this.#drain(id, dice.happens(0.5)),
      () => this.#break(dice.happens(0.5)),
    ];
    dice.oneOf(kinds)();
  }

  /** One server cannot open some of its slots, or can again. The others always can: one of them may go for ever. */
  #break(isBroken: boolean): void {
    for (const folder of this.#places[0]!.disk.folders)
      if (this.#dice.happens(0.5)) folder.isBroken = isBroken;
  }

  #drain(id: string, isWanted: boolean): void {
    const key = DRAIN_ROWS.key(CLUSTER, id);
    this.#engine.commit(
      isWanted
        ? { when: [], puts: [{ key, value: DRAIN_ROWS.format({ since: '' }) }] }
        : { when: [], deletes: [{ from: key, to: `${key}\0` }] },
    );
  }

  /** All is well again; but one server may never come back. */
  #heal(): void {
    if (this.#dice.happens(0.5)) this.#kill(this.#dice.oneOf(this.#places), Number.POSITIVE_INFINITY);
    for (const { id, network } of this.#places) {
      Object.assign(network, { cut: 'none', badness: 0 });
      this.#drain(id, false);
    }
  }

  /** Slots that no server answers for. */
  #unowned(): number[] {
    const isOwned = (slot: number) => {
      const row = this.#engine.rows.get(OWNER_ROWS.key(CLUSTER, String(slot)));
      const holders = this.#places.filter(({ node, process }) => !process!.hasEnded && node!.has.has(slot));
      return row !== undefined && holders.length === 1;
    };
    return this.#books.acknowledged.flatMap((_, slot) => (isOwned(slot) ? [] : [slot]));
  }

  #writeAll(): void {
    for (const { node, process } of this.#places)
      for (let slot = 0; slot < this.#options.slots; slot += 1)
        this.#time.in(0, () => node!.serve('write', slot), process);
  }

  /** Each log is one chain, has all that was acknowledged, and went on after the trouble. */
  async #checkLogs(before: readonly number[]): Promise<void> {
    for (const [slot, acknowledged] of this.#books.acknowledged.entries()) {
      if (acknowledged.size === before[slot])
        this.#books.violated(`slot ${slot} takes nothing after the trouble`);
      const kv = new MemoryKv(this.#engine);
      const fence = { key: '', revision: 0 };
      const log = new SlotLog({
        kv,
        prefix: prefixOf(CLUSTER),
        slot,
        fence,
        commits: new GroupCommit({ kv }),
        onLost: () => undefined,
      });
      try {
        const store = new MemoryStore();
        await catchUp(new SimulatedCopy(slot, { store, books: this.#books, plant: undefined }), log);
        for (const word of acknowledged)
          if (!store.table(WORDS).get(word)) this.#books.violated(`${word} was acknowledged and is lost`);
      } catch (error) {
        this.#books.violated(String(error));
      }
    }
  }
}
