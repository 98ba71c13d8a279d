import type { WorkspaceAnswer } from '../api/workspaces.ts';
import type { WorkspaceId } from '../domain/id.ts';
import type { Answer, EffectHandler, EffectRef, WorkOutcome } from '../domain/payment.ts';
import type { CreationInput } from '../workspace/prices.ts';
import type { ExtensionInput, Workspaces } from '../workspace/workspaces.ts';

/** A rented workspace: its minutes begin at commit, and each answer carries a new token. */
export class WorkspaceCreation implements EffectHandler<'workspace_create'> {
  readonly #workspaces: Workspaces;

  constructor(workspaces: Workspaces) {
    this.#workspaces = workspaces;
  }

  /** @throws spend_limit_exceeded */
  async buy(input: CreationInput): Promise<WorkOutcome> {
    const { id } = await this.#workspaces.create(input);
    return { charged: true, effect: { kind: 'workspace_create', ref: { workspace: id } } };
  }

  async commit({ workspace }: EffectRef<'workspace_create'>): Promise<Answer> {
    return this.#answer(workspace, await this.#workspaces.commitCreation(workspace));
  }

  async reissue({ workspace }: EffectRef<'workspace_create'>): Promise<Answer> {
    return this.#answer(workspace, await this.#workspaces.reissue(workspace));
  }

  undo({ workspace }: EffectRef<'workspace_create'>): Promise<void> {
    return this.#workspaces.undoCreation(workspace);
  }

  async pending(): Promise<EffectRef<'workspace_create'>[]> {
    return this.#workspaces.pendingCreations().map((workspace) => ({ workspace }));
  }

  #answer(id: WorkspaceId, { record, token }: { record: object; token?: string }): Answer {
    return {
      status: 201,
      headers: this.#workspaces.headers(id),
      body: { ...record, ...(token !== undefined && { capability_token: token }), charged: true },
    };
  }
}

/** More minutes for a workspace: added to what is left at commit. */
export class WorkspaceExtension implements EffectHandler<'workspace_extend'> {
  readonly #workspaces: Workspaces;

  constructor(workspaces: Workspaces) {
    this.#workspaces = workspaces;
  }

  /** @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited */
  async buy(id: string, input: ExtensionInput): Promise<WorkOutcome> {
    const ref = await this.#workspaces.extend(id, input);
    return { charged: true, effect: { kind: 'workspace_extend', ref } };
  }

  async commit({ step }: EffectRef<'workspace_extend'>): Promise<Answer> {
    return this.#answer(await this.#workspaces.commitExtension(step));
  }

  async reissue({ step }: EffectRef<'workspace_extend'>): Promise<Answer> {
    return this.#answer(await this.#workspaces.reissueExtension(step));
  }

  undo({ step }: EffectRef<'workspace_extend'>): Promise<void> {
    return this.#workspaces.undoExtension(step);
  }

  async pending(): Promise<EffectRef<'workspace_extend'>[]> {
    return this.#workspaces.pendingExtensions();
  }

  #answer(record: WorkspaceAnswer): Answer {
    return { status: 200, headers: this.#workspaces.headers(record.id), body: { ...record, charged: true } };
  }
}
