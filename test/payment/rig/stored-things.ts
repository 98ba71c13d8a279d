import type { Answer, Effect, EffectHandler, EffectRef } from '../../../src/payment/purchase.ts';
import type { WorkspaceId } from '../../../src/protocol/id.ts';
import type { Store, Table } from '../../../src/server/state/store.ts';

type Ref = EffectRef<'workspace_create'>;

/** A side effect kept in the store, as an ingest or a workspace is: durable, invisible until committed. */
export class StoredThings implements EffectHandler<'workspace_create'> {
  readonly table: Table<{ state: 'pending' | 'committed'; tokens: number }>;
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    this.table = store.table('test_things');
  }

  async make(id: string): Promise<Effect> {
    await this.table.put(id, { state: 'pending', tokens: 0 });
    return { kind: 'workspace_create', ref: { workspace: id as WorkspaceId } };
  }

  async commit({ workspace }: Ref): Promise<Answer> {
    return await this.#give(workspace, 'commit');
  }

  async reissue({ workspace }: Ref): Promise<Answer> {
    return await this.#give(workspace, 'reissue');
  }

  async undo({ workspace }: Ref): Promise<void> {
    await this.table.remove(workspace);
  }

  async pending(): Promise<Ref[]> {
    return [...this.table.range()]
      .filter(({ value }) => value.state === 'pending')
      .map(({ key }) => ({ workspace: key as WorkspaceId }));
  }

  states(): string[] {
    return [...this.table.range()].map(({ value }) => value.state);
  }

  async #give(id: string, how: string): Promise<Answer> {
    const tokens = await this.#store.transaction(() => {
      const thing = this.table.get(id);
      if (!thing) throw new Error(`${how} of a thing that is not there`);
      this.table.put(id, { state: 'committed', tokens: thing.tokens + 1 });
      return thing.tokens + 1;
    });
    return { status: 201, headers: {}, body: { id, token: `token-${tokens}`, charged: true } };
  }
}
