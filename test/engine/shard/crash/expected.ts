import type { Test } from 'tap';
import type { Tenants } from '../../../../src/engine/shard/tenants.ts';
import type { Item } from '../../../../src/protocol/schema/items.ts';
import type { Hit } from '../../../../src/protocol/schema/search.ts';

interface KnownItem {
  readonly segments: number;
  /** Whether it must, may or must not be there. */
  state: 'there' | 'perhaps' | 'gone';
  /** Set when a removal has begun: from then on, its append's acknowledgement says nothing about whether it is there. */
  removing: boolean;
}

/** One tenant as the writer printed it. */
interface Known {
  readonly items: Map<string, KnownItem>;
  disposal: 'none' | 'begun' | 'done';
}

/** Records what the writer printed, and compares a data folder with it. */
export class Expected {
  readonly #tenants = new Map<string, Known>();
  acknowledged = 0;
  /** Kills within a disposal that was not acknowledged, and tenants found with a merged block. */
  disposalsCut = 0;
  merged = 0;

  /** Reads one line of the writer. */
  hear(line: string): void {
    const [sign, verb, tenant = '', id = '', count] = line.split(' ');
    const known = this.#of(tenant);
    if (sign === '<') this.acknowledged += 1;
    if (verb === 'dispose') {
      if (sign === '>') known.disposal = 'begun';
      if (sign === '<') known.disposal = 'done';
      return;
    }
    const item = known.items.get(id) ?? { segments: Number(count), state: 'gone' as const, removing: false };
    known.items.set(id, item);
    if (verb === 'remove') item.removing = true;
    if (sign === '>') item.state = 'perhaps';
    // Another writer may see a new Item and begin to remove it before its append is acknowledged.
    else if (sign === '<' && verb === 'remove') item.state = 'gone';
    else if (sign === '<' && !item.removing) item.state = 'there';
  }

  /** Checks every tenant: whole Items only, all acknowledged ones, no removed ones, no disposed tenant. */
  async compare(t: Test, tenants: Tenants): Promise<void> {
    for (const [tenant, known] of this.#tenants) {
      const exists = tenants.exists(tenant);
      if (known.disposal === 'done') t.equal(exists, false, `${tenant} stays disposed`);
      if (known.disposal === 'begun') this.disposalsCut += 1;
      if (exists) {
        await this.#compareTenant(t, tenants, tenant, known);
        // A disposal that left no trace has not happened.
        if (known.disposal === 'begun') known.disposal = 'none';
      } else {
        const lost = [...known.items].filter(([, { state }]) => state === 'there').map(([id]) => id);
        if (known.disposal === 'none') t.same(lost, [], `nothing of ${tenant} is lost`);
        this.#tenants.delete(tenant);
      }
    }
  }

  #of(tenant: string): Known {
    const known = this.#tenants.get(tenant) ?? { items: new Map(), disposal: 'none' };
    this.#tenants.set(tenant, known);
    return known;
  }

  async #compareTenant(t: Test, tenants: Tenants, tenant: string, known: Known): Promise<void> {
    const problems: string[] = [];
    await tenants.use(tenant, { create: true }, (shard) => {
      const present = new Map<string, Item>(shard.items({ limit: 10_000 }).map((item) => [item.id, item]));
      const snapshot = shard.snapshot();
      for (const [id, item] of known.items) {
        if (item.state === 'there' && !present.has(id)) problems.push(`${id} is lost`);
        if (item.state === 'gone' && present.has(id)) problems.push(`${id} is back`);
        if (present.has(id)) Object.assign(item, { state: 'there', removing: false });
        else known.items.delete(id);
      }
      let sum = 0;
      for (const id of present.keys()) {
        const { segments = 0 } = known.items.get(id) ?? {};
        sum += segments;
        const found = snapshot.searchWords(`w${id}`, 64).segments;
        const hits = snapshot.hits(Uint32Array.from(found)).toJSON() as Pick<Hit, 'item'>[];
        if (found.length !== segments || hits.length !== segments || hits.some(({ item }) => item.id !== id))
          problems.push(`${id} has ${found.length} of ${segments} segments`);
      }
      const rows = snapshot.searchVector('text_semantic', new Float32Array(8).fill(0.1), sum + 10).segments
        .length;
      const { items, segments } = snapshot.counts();
      if (rows !== sum || segments !== sum || items !== present.size)
        problems.push(
          `${rows} vectors, ${segments} segments and ${items} items counted; ${sum} and ${present.size} are there`,
        );
      // More rows than one commit can have added (six writers, twelve Segments each): some were merged.
      if (snapshot.blocks().some((rows) => rows > 72)) this.merged += 1;
      snapshot.close();
    });
    t.same(problems, [], tenant);
  }
}
