import { setTimeout as pause } from 'node:timers/promises';
import { AnswerLostError, behind, type Kv, type KvRow } from './kv.ts';
import type { Lease } from './lease.ts';
import { type NodeRow, nodeKeys, parseNode, parseOwner } from './node-rows.ts';
import { ranked } from './placement.ts';

export interface MembershipOptions {
  readonly kv: Kv;
  /** What all keys of the cluster begin with. */
  readonly prefix: string;
  /** Id of this process's node. */
  readonly node: string;
  readonly row: NodeRow;
  /** On which the row hangs. */
  readonly lease: Pick<Lease, 'id'>;
  readonly log: (event: object) => void;
  readonly lookMs?: number;
}

/** The cluster as it was at the last look. */
export interface ClusterView {
  /** The living nodes, by id. */
  readonly nodes: ReadonlyMap<string, NodeRow>;
  /** Ids of those that are to have no slot. */
  readonly draining: ReadonlySet<string>;
  /** Who has each slot; those that nobody has are missing. */
  readonly owners: ReadonlyMap<number, string>;
}

/** Between two looks at the rows of the cluster. */
const LOOK_MS = 200;
const NOTHING: ClusterView = { nodes: new Map(), draining: new Set(), owners: new Map() };

/** Says where this node is for as long as its lease lasts, and looks where the others are and what they have. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #keys: ReturnType<typeof nodeKeys>;
  readonly #ending = new AbortController();
  #row: NodeRow;
  #view = NOTHING;
  #looked = Promise.withResolvers<void>();
  #looking: Promise<void> | undefined;

  /** @throws AnswerLostError */
  static async join(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options);
    await membership.#say(options.row);
    await membership.#look();
    membership.#looking = membership.#run();
    return membership;
  }

  private constructor(options: MembershipOptions) {
    this.#options = options;
    this.#row = options.row;
    this.#keys = nodeKeys(options.prefix);
  }

  get view(): ClusterView {
    return this.#view;
  }

  /** Resolves with the next look. */
  get looked(): Promise<void> {
    return this.#looked.promise;
  }

  /** The node that a slot is placed with: the first of the living that takes slots. Undefined while there is none. */
  placed(slot: number): string | undefined {
    const { nodes, draining } = this.#view;
    const takers = [...nodes].filter(([id, { ready }]) => ready && !draining.has(id));
    return ranked(
      slot,
      takers.map(([id, { weight }]) => ({ id, weight })),
    )[0];
  }

  /** Whether this node takes slots. @throws AnswerLostError */
  async setReady(ready: boolean): Promise<void> {
    await this.#say({ ...this.#row, ready });
    await this.#look();
  }

  /** Stops looking. The row goes with its lease. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#looking;
  }

  async #say(row: NodeRow): Promise<void> {
    const { kv, node, lease } = this.#options;
    const value = Buffer.from(JSON.stringify(row));
    await kv.commit({
      when: [],
      puts: [
        { key: this.#keys.node(node), value, lease: lease.id },
        { key: this.#keys.known(node), value },
      ],
    });
    this.#row = row;
  }

  async #run(): Promise<void> {
    const { log, lookMs = LOOK_MS } = this.#options;
    while (!this.#ending.signal.aborted) {
      await pause(lookMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      await this.#look().catch((error: unknown) => {
        if (!(error instanceof AnswerLostError)) throw error;
        log({ event: 'cluster_not_seen', error: error.message });
      });
    }
  }

  async #look(): Promise<void> {
    const [nodes, draining, owners] = await Promise.all(
      [this.#keys.nodes, this.#keys.draining, this.#keys.owners].map((prefix) => this.#rows(prefix)),
    );
    this.#view = {
      nodes: new Map(nodes!.map(([id, row]) => [id, parseNode(row.value)])),
      draining: new Set(draining!.map(([id]) => id)),
      owners: new Map(owners!.map(([slot, row]) => [Number(slot), parseOwner(row.value)])),
    };
    const looked = this.#looked;
    this.#looked = Promise.withResolvers();
    looked.resolve();
  }

  /** Rows below a prefix, by what follows it. */
  async #rows(prefix: string): Promise<(readonly [string, KvRow])[]> {
    const rows = await this.#options.kv.range(prefix, behind(prefix));
    return rows.map((row) => [row.key.slice(prefix.length), row]);
  }
}
