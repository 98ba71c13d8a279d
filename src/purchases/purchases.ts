import type { EffectHandlers } from '../domain/payment.ts';
import type { Workspaces } from '../workspace/workspaces.ts';
import { PaidIngest, type PaidIngestDeps } from './paid-ingest.ts';
import { type InSlotOf, WorkspaceCreation, WorkspaceExtension } from './paid-workspace.ts';

/** What a payment can buy beside an answer. */
export interface Purchases {
  readonly ingest: PaidIngest;
  readonly creation: WorkspaceCreation;
  readonly extension: WorkspaceExtension;
}

export interface PurchasesDeps extends PaidIngestDeps {
  readonly workspaces: Workspaces;
  readonly inSlotOf: InSlotOf;
}

export function openPurchases(deps: PurchasesDeps): Purchases {
  return {
    ingest: new PaidIngest(deps),
    creation: new WorkspaceCreation(deps.workspaces),
    extension: new WorkspaceExtension(deps.workspaces, deps.inSlotOf),
  };
}

/** For the payment gate, which commits or undoes them. */
export function effectHandlers({ ingest, creation, extension }: Purchases): EffectHandlers {
  return { ingest, workspace_create: creation, workspace_extend: extension };
}
