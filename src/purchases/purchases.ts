import type { EffectHandlers } from '../domain/payment.ts';
import { PaidIngest, type PaidIngestDeps } from './paid-ingest.ts';
import { WorkspaceCreation, WorkspaceExtension, type WorkspaceExtensionDeps } from './paid-workspace.ts';

/** What a payment can buy beside an answer. */
export interface Purchases {
  readonly ingest: PaidIngest;
  readonly creation: WorkspaceCreation;
  readonly extension: WorkspaceExtension;
}

export type PurchasesDeps = PaidIngestDeps & WorkspaceExtensionDeps;

export function openPurchases(deps: PurchasesDeps): Purchases {
  return {
    ingest: new PaidIngest(deps),
    creation: new WorkspaceCreation(deps.workspaces),
    extension: new WorkspaceExtension(deps),
  };
}

/** For the payment gate, which commits or undoes them. */
export function effectHandlers({ ingest, creation, extension }: Purchases): EffectHandlers {
  return { ingest, workspace_create: creation, workspace_extend: extension };
}
