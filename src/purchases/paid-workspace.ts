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

/** Runs work on the workspaces of the slot that an id leads to. */
export type InSlotOf = <T>(id: string, work: (workspaces: Workspaces) => Promise<T>) => Promise<T>;

/** More minutes for a workspace, of any slot: anyone may pay for them. They are added to what is left at commit. */
export class WorkspaceExtension implements EffectHandler<'workspace_extend'> {
  readonly #own: Workspaces;
  readonly #in: InSlotOf;

  /** @param own those of the payer's slot */
  constructor(own: Workspaces, inSlotOf: InSlotOf) {
    this.#own = own;
    this.#in = inSlotOf;
  }

  /**
   * @param token opens the workspace: a refusal may show its figures
   * @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited
   */
  async buy(id: string, ttlMinutes: ExtensionInput['ttlMinutes'], token?: string): Promise<WorkOutcome> {
    const ref = await this.#in(id, (workspaces) => {
      const showFigures = workspaces.tokenOpens(id, token);
      return workspaces.extend(id, { ttlMinutes, showFigures });
    });
    return { charged: true, effect: { kind: 'workspace_extend', ref } };
  }

  commit({ workspace, step }: EffectRef<'workspace_extend'>): Promise<Answer> {
    return this.#in(workspace, async (workspaces) =>
      answerOf(workspaces, await workspaces.commitExtension(step)),
    );
  }

  reissue({ workspace, step }: EffectRef<'workspace_extend'>): Promise<Answer> {
    return this.#in(workspace, async (workspaces) =>
      answerOf(workspaces, await workspaces.reissueExtension(step)),
    );
  }

  undo({ workspace, step }: EffectRef<'workspace_extend'>): Promise<void> {
    return this.#in(workspace, (workspaces) => workspaces.undoExtension(step));
  }

  /** Extensions of the workspaces in this slot. The payer may belong to another slot. */
  async pending(): Promise<EffectRef<'workspace_extend'>[]> {
    return this.#own.pendingExtensions();
  }
}

function answerOf(workspaces: Workspaces, record: WorkspaceAnswer): Answer {
  return { status: 200, headers: workspaces.headers(record.id), body: { ...record, charged: true } };
}
