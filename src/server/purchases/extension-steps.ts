import type { Answer, EffectRef } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import type { WorkspaceAnswer } from '@farthing/protocol/schema/workspaces';
import type { Workspaces } from '../workspace/workspaces.ts';

export type ExtensionRef = EffectRef<'workspace_extend'>;

export interface ExtensionRequest {
  /** The workspace's id, as the client wrote it. */
  readonly id: string;
  readonly payer: Address;
  readonly ttlMinutes?: number | null | undefined;
  /** For the reserve, paid in this prepaid money. */
  readonly reserveMoney?: string | undefined;
  /** Where it opens the workspace, a refusal may show its figures. */
  readonly token?: string | undefined;
}

/** Extensions of one store's workspaces as effects of payments, wherever the store is. All but `extend` are idempotent. */
export interface ExtensionSteps {
  /** @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited */
  extend(request: ExtensionRequest): Promise<ExtensionRef>;
  commit(ref: ExtensionRef): Promise<Answer>;
  reissue(ref: ExtensionRef): Promise<Answer>;
  undo(ref: ExtensionRef): Promise<void>;
}

/** Extensions of workspaces in this process. */
export function extensionsIn(workspaces: Workspaces): ExtensionSteps {
  const answerOf = (record: WorkspaceAnswer): Answer => ({
    status: 200,
    headers: workspaces.views.headers(record.id),
    body: { ...record, charged: true },
  });
  return {
    extend: async ({ id, payer, ttlMinutes = null, reserveMoney, token }) =>
      workspaces.extend(id, {
        payer,
        ttlMinutes,
        reserveMoney,
        showFigures: workspaces.tokenOpens(id, token),
      }),
    commit: async ({ step }) => answerOf(await workspaces.commitExtension(step)),
    reissue: async ({ step }) => answerOf(await workspaces.reissueExtension(step)),
    undo: ({ step }) => workspaces.undoExtension(step),
  };
}
