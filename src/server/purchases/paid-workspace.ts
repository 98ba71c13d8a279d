import type { Answer, EffectHandler, EffectRef, WorkOutcome } from '@farthing/payment/purchase';
import { type Moment, moment, msBetween } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import {
  type LeadsHere,
  payerTenantId,
  type StepId,
  type WorkspaceId,
  workspaceOfStep,
} from '@farthing/protocol/id';
import type { CreationInput } from '../workspace/prices.ts';
import type { Workspaces } from '../workspace/workspaces.ts';
import { type ExtensionRequest, type ExtensionSteps, extensionsIn } from './extension-steps.ts';

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
      headers: this.#workspaces.views.headers(id),
      body: { ...record, ...(token !== undefined && { capability_token: token }), charged: true },
    };
  }
}

export interface WorkspaceExtensionDeps {
  /** The workspaces in the payer's store. */
  readonly workspaces: Workspaces;
  readonly leadsHere: LeadsHere;
  /** Extensions in the store that a workspace's id belongs to. @throws interrupted while no server owns it */
  readonly extensionsOf: (id: string) => Promise<ExtensionSteps>;
  readonly now?: () => Moment;
}

/**
 * An extension in another store counts as bought only if the answer comes within this time. The server that has the workspace asks much
 * later whether it was bought. By then the answer is known here, or never will be.
 */
export const BUY_MS_MAX = 10_000;

/** More minutes for a workspace, in any store: anyone may pay for them. They are added to what is left at commit. */
export class WorkspaceExtension implements EffectHandler<'workspace_extend'> {
  readonly #deps: WorkspaceExtensionDeps;
  /** Bought, and neither committed nor undone by this process. */
  readonly #underWay = new Set<StepId>();

  constructor(deps: WorkspaceExtensionDeps) {
    this.#deps = deps;
  }

  /** @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited, interrupted */
  async buy(request: ExtensionRequest): Promise<WorkOutcome> {
    const { now = moment } = this.#deps;
    const startedAt = now();
    const ref = await (await this.#stepsOf(request.id)).extend(request);
    if (!this.#deps.leadsHere(ref.workspace) && msBetween(startedAt, now()) > BUY_MS_MAX)
      throw new FarthingError('interrupted', 'The workspace took too long to answer.', { retryAfterS: 2 });
    this.#underWay.add(ref.step);
    return { charged: true, effect: { kind: 'workspace_extend', ref } };
  }

  async commit(ref: EffectRef<'workspace_extend'>): Promise<Answer> {
    const answer = await (await this.#stepsOf(ref.workspace)).commit(ref);
    this.#underWay.delete(ref.step);
    return answer;
  }

  async reissue(ref: EffectRef<'workspace_extend'>): Promise<Answer> {
    return (await this.#stepsOf(ref.workspace)).reissue(ref);
  }

  async undo(ref: EffectRef<'workspace_extend'>): Promise<void> {
    await (await this.#stepsOf(ref.workspace)).undo(ref);
    this.#underWay.delete(ref.step);
  }

  /** This store may not be registered here yet: its start finishes what a crash left. */
  async #stepsOf(id: string): Promise<ExtensionSteps> {
    const { workspaces, leadsHere, extensionsOf } = this.#deps;
    return leadsHere(id as WorkspaceId) ? extensionsIn(workspaces) : extensionsOf(id);
  }

  /** Whether a purchase in this store has bought the step, and neither committed nor undone it, as far as this process knows. */
  isUnderWay(step: StepId): boolean {
    return this.#underWay.has(step);
  }

  /** Extensions whose workspace and payer both belong to this store. Those of other payers are judged by `OtherBooks.orphansIn`. */
  async pending(): Promise<EffectRef<'workspace_extend'>[]> {
    const { workspaces, leadsHere } = this.#deps;
    return workspaces
      .pendingExtensions()
      .filter(({ payer }) => leadsHere(payerTenantId(payer)))
      .map(({ step }) => ({ workspace: workspaceOfStep(step), step }));
  }
}
