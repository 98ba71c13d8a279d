import { toTimestamp } from '@farthing/protocol/clock';
import type { Membership } from '../members/membership.ts';
import { COPY_ROWS } from '../members/node-rows.ts';
import type { PeerCalls } from '../peers/peer-calls.ts';
import {
  AnswerLostError,
  behind,
  type Kv,
  type KvCondition,
  type Pause,
  untilAnswered,
} from '../stores/kv.ts';
import { askToRemove } from './removed-copies.ts';

/** Ids of other nodes. */
export interface CopiesElsewhere {
  /** They have nothing of the Tenant any more. */
  readonly removed: readonly string[];
  /** They may have something of it. */
  readonly left: readonly string[];
}

export interface SlotCopiesOptions {
  readonly kv: Kv;
  readonly cluster: string;
  readonly node: string;
  readonly membership: Pick<Membership, 'view'>;
  readonly calls: PeerCalls;
  /** Removes what this disk has of a slot's Tenants. */
  readonly removeContent: (slot: number) => Promise<void>;
  /** Pause between two attempts. */
  readonly pause?: Pause;
}

/** Which servers may have something of a slot's Tenants on their disks. It is noted in etcd, and receipts name them. */
export class SlotCopies {
  readonly #options: SlotCopiesOptions;
  /** Slots of other servers of which this disk has nothing of a Tenant. */
  readonly #clean = new Set<number>();

  constructor(options: SlotCopiesOptions) {
    this.#options = options;
  }

  /** Whether this disk has nothing of a slot. */
  isClean(slot: number): boolean {
    return this.#clean.has(slot);
  }

  /**
   * In etcd before anything of a Tenant is on this disk. @param when what has to hold there
   * @returns whether it held: otherwise nothing is noted
   */
  async note(slot: number, when: readonly KvCondition[] = []): Promise<boolean> {
    this.#clean.delete(slot);
    const puts = [{ key: this.#key(slot), value: COPY_ROWS.format({ since: toTimestamp(Date.now()) }) }];
    const { kv, pause } = this.#options;
    return (await untilAnswered(() => kv.commit({ when, puts }), ignoreLost, pause)).done;
  }

  /**
   * Removes a slot's content: data that another server destroys must not stay on this disk, and outdated data must not be found here later.
   */
  async remove(slot: number): Promise<void> {
    const { kv, removeContent } = this.#options;
    const key = this.#key(slot);
    const [noted] = await kv.range(key, `${key}\0`);
    await removeContent(slot);
    // One that arrives late must not take away what was noted since.
    if (noted)
      await kv.commit({
        when: [{ key, revision: noted.revision }],
        deletes: [{ from: key, to: `${key}\0` }],
      });
    this.#clean.add(slot);
  }

  /** Has the other nodes remove what they have of a Tenant that has ended. @returns their ids */
  async removeElsewhere(slot: number, tenant: string): Promise<CopiesElsewhere> {
    const { membership, node, kv, cluster, calls, pause } = this.#options;
    // Not the last look's servers: one may have begun to follow since.
    const prefix = COPY_ROWS.key(cluster, `${slot}/`);
    const noted = await untilAnswered(() => kv.range(prefix, behind(prefix)), ignoreLost, pause);
    const ids = noted.map(({ key }) => key.slice(prefix.length)).filter((id) => id !== node);
    const [removed, left]: [string[], string[]] = [[], []];
    const ask = async (id: string) => {
      const row = membership.view.nodes.get(id);
      const isRemoved = row && (await askToRemove(calls, { id, url: row.url }, tenant));
      (isRemoved ? removed : left).push(id);
    };
    await Promise.all(ids.map(ask));
    return { removed: removed.sort(), left: left.sort() };
  }

  #key(slot: number): string {
    const { cluster, node } = this.#options;
    return COPY_ROWS.key(cluster, `${slot}/${node}`);
  }
}

export function ignoreLost(error: unknown): void {
  if (!(error instanceof AnswerLostError)) throw error;
}
