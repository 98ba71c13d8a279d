import {
  type AnswerLostError,
  type Kv,
  type KvRow,
  type Pause,
  realPause,
  untilAnswered,
  type Watches,
} from '../stores/kv.ts';
import type { Lease } from '../stores/lease.ts';
import { configIn, configRange } from './cluster-config.ts';
import {
  COPY_ROWS,
  DRAIN_ROWS,
  KNOWN_ROWS,
  NODE_ROWS,
  type NodeRow,
  OWNER_ROWS,
  type RowKind,
} from './node-rows.ts';
import { ranked } from './placement.ts';

export interface MembershipOptions {
  readonly kv: Kv;
  /** Has looks follow what changes. Absent: they come in their time. */
  readonly watches?: Watches;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Id of this process's node. */
  readonly node: string;
  readonly row: NodeRow;
  /** Lease of the row. */
  readonly lease: Pick<Lease, 'id'>;
  readonly log: (event: object) => void;
  readonly lookMs?: number;
  /** Number of slots: looks are more frequent while one has no owner. */
  readonly slots?: number;
  /** Pause between two looks, or attempts. */
  readonly pause?: Pause;
}

/** The cluster as it was at the last look. */
export interface ClusterView {
  /** The living nodes, by id. */
  readonly nodes: ReadonlyMap<string, NodeRow>;
  /** Ids of those that are to have no slot. */
  readonly draining: ReadonlySet<string>;
  /** Owner of each slot; slots without one are missing. */
  readonly owners: ReadonlyMap<number, string>;
  /** Format of all rows; undefined before it is decided. */
  readonly format: number | undefined;
  /** Ids of the nodes whose disks may have content of a slot's Tenants. */
  readonly copies: ReadonlyMap<number, readonly string[]>;
}

/** Interval of looks at the cluster's rows, where no watch reports changes. */
const LOOK_MS = 500;
/** Interval while a slot has no owner: its clients wait. */
const SOON_MS = 100;
const NOTHING: ClusterView = {
  nodes: new Map(),
  draining: new Set(),
  owners: new Map(),
  copies: new Map(),
  format: undefined,
};

/** Says where this node is for as long as its lease lasts, and looks where the others are and what they have. */
export class Membership {
  readonly #options: MembershipOptions;
  /** Ends the pause between two looks. */
  #wake: () => void = () => undefined;
  /** Something has changed since the last look began. */
  #isDue = false;
  #isEnding = false;
  /** This node's row to be written, whether it was or not. */
  #row: NodeRow;
  /** The last write of the row. */
  #said: Promise<void> = Promise.resolve();
  #view = NOTHING;
  readonly #orders = new Map<number, readonly string[]>();
  #looked = Promise.withResolvers<void>();
  #looking: Promise<void> | undefined;
  #endWatch: () => void = () => undefined;

  /** @throws AnswerLostError */
  static async join(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options);
    await membership.#say();
    await membership.#look();
    membership.#looking = membership.#run();
    membership.#watch();
    return membership;
  }

  private constructor(options: MembershipOptions) {
    this.#options = options;
    this.#row = options.row;
  }

  get view(): ClusterView {
    return this.#view;
  }

  /** Resolves with the next look. */
  get looked(): Promise<void> {
    return this.#looked.promise;
  }

  /**
   * The node that a slot is placed with: the first of the living that takes slots and can open this one, or the first that takes slots if
   * none can. Undefined while there is none.
   */
  placed(slot: number): string | undefined {
    return this.#first(slot, (id) => this.#takes(id));
  }

  /** The same, once this node takes slots. */
  willBePlaced(slot: number): string | undefined {
    const { node } = this.#options;
    return this.#first(slot, (id) => this.#takes(id, node));
  }

  /** The node that would get a slot if its owner were gone, and this node took slots. */
  next(slot: number): string | undefined {
    const { node } = this.#options;
    const owner = this.#view.owners.get(slot);
    return this.#first(slot, (id) => id !== owner && this.#takes(id, node));
  }

  /** Whether this node takes slots. Waits while the engine is away. */
  setReady(ready: boolean): Promise<void> {
    return this.#tell({ ready });
  }

  /** The slots that this node could not open. Waits while the engine is away. */
  async setUnable(unable: readonly number[]): Promise<void> {
    if (String(unable) !== String(this.#row.unable ?? [])) await this.#tell({ unable: [...unable] });
  }

  /** Changes of the row follow each other. */
  #tell(change: Partial<NodeRow>): Promise<void> {
    const { log, pause } = this.#options;
    this.#row = { ...this.#row, ...change };
    const say = async () => {
      await this.#say();
      await this.#look();
    };
    const lost = ({ message }: AnswerLostError) => log({ event: 'log_answer_lost', error: message });
    const said = this.#said.then(() => untilAnswered(say, lost, pause));
    this.#said = said.catch(() => undefined);
    return said;
  }

  #first(slot: number, takes: (id: string) => boolean): string | undefined {
    const taking = this.#orderOf(slot).filter(takes);
    return taking.find((id) => !this.#isUnable(id, slot)) ?? taking[0];
  }

  /** This node knows its own state without a look. */
  #isUnable(id: string, slot: number): boolean {
    const row = id === this.#options.node ? this.#row : this.#view.nodes.get(id);
    return row?.unable?.includes(slot) === true;
  }

  /** Whether a live node takes slots. @param besides counts as one that does */
  #takes(id: string, besides?: string): boolean {
    const { nodes, draining } = this.#view;
    return (nodes.get(id)?.ready === true || id === besides) && !draining.has(id);
  }

  /**
   * The live nodes in their order of preference for a slot. Cached while they are the same: a digest for each costs more than all the rest.
   */
  #orderOf(slot: number): readonly string[] {
    const order =
      this.#orders.get(slot) ??
      ranked(
        slot,
        Array.from(this.#view.nodes, ([id, { weight }]) => ({ id, weight })),
      );
    this.#orders.set(slot, order);
    return order;
  }

  /** Stops looking. The row goes with its lease. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#endWatch();
    this.#wake();
    await this.#looking;
  }

  /** An attempt that arrives late does not overwrite newer rows. @throws AnswerLostError */
  async #say(): Promise<void> {
    const { kv, cluster, node, lease } = this.#options;
    const key = NODE_ROWS.key(cluster, node);
    for (let isSaid = false; !isSaid; ) {
      const [former] = await kv.range(key, `${key}\0`);
      const { url, since } = this.#row;
      const { done } = await kv.commit({
        when: [{ key, revision: former?.revision ?? 0 }],
        puts: [
          { key, value: NODE_ROWS.format(this.#row), lease: lease.id },
          { key: KNOWN_ROWS.key(cluster, node), value: KNOWN_ROWS.format({ url, since }) },
        ],
      });
      isSaid = done;
    }
  }

  async #run(): Promise<void> {
    const { log, lookMs = LOOK_MS, slots = 0, pause = realPause } = this.#options;
    while (!this.#isEnding) {
      const isComplete = this.#view.owners.size >= slots;
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      if (!this.#isDue)
        await Promise.race([pause(isComplete ? lookMs : Math.min(lookMs, SOON_MS)), woken.promise]);
      this.#isDue = false;
      // A row of a newer Farthing may not be known here: the former view stands.
      await this.#look().catch((error: unknown) => log({ event: 'cluster_not_seen', error: String(error) }));
    }
  }

  /** Copies are of no hurry. */
  #watch(): void {
    const { watches, cluster } = this.#options;
    const ranges = [NODE_ROWS, DRAIN_ROWS, OWNER_ROWS].map((kind) => kind.range(cluster));
    const changed = () => {
      this.#isDue = true;
      this.#wake();
    };
    if (watches) this.#endWatch = watches.watch(ranges, changed);
  }

  async #look(): Promise<void> {
    const { kv, cluster, log } = this.#options;
    const former = this.#view;
    const kinds = [NODE_ROWS, DRAIN_ROWS, OWNER_ROWS, COPY_ROWS] as const;
    const [[config] = [], nodes, draining, owners, copies] = await kv.ranges([
      configRange(cluster),
      ...kinds.map((kind) => kind.range(cluster)),
    ]);
    this.#view = {
      nodes: named(NODE_ROWS, cluster, nodes!),
      draining: new Set(named(DRAIN_ROWS, cluster, draining!).keys()),
      owners: new Map(
        [...named(OWNER_ROWS, cluster, owners!)].map(([slot, { node }]) => [Number(slot), node]),
      ),
      copies: copiesBySlot(named(COPY_ROWS, cluster, copies!).keys()),
      format: config && configIn(config).format,
    };
    if (weightsOf(this.#view) !== weightsOf(former)) this.#orders.clear();
    const { format } = this.#view;
    if (former.format !== undefined && format !== former.format) log({ event: 'format_raised', format });
    const looked = this.#looked;
    this.#looked = Promise.withResolvers();
    looked.resolve();
  }
}

/** Rows by their names. */
function named<Row>(kind: RowKind<Row>, cluster: string, rows: readonly KvRow[]): Map<string, Row> {
  return new Map(rows.map(({ key, value }) => [kind.name(cluster, key), kind.parse(key, value)]));
}

function weightsOf({ nodes }: ClusterView): string {
  return JSON.stringify(Array.from(nodes, ([id, { weight }]) => [id, weight]));
}

/** @param names `<slot>/<node id>` */
function copiesBySlot(names: Iterable<string>): Map<number, string[]> {
  const bySlot = new Map<number, string[]>();
  for (const name of names) {
    const end = name.indexOf('/');
    const slot = Number(name.slice(0, end));
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), name.slice(end + 1)]);
  }
  return bySlot;
}
