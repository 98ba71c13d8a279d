import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import type { EffectHandlers } from '@farthing/payment/purchase';
import { PaidIngest, type PaidIngestDeps } from './paid-ingest.ts';
import { WorkspaceCreation, WorkspaceExtension, type WorkspaceExtensionDeps } from './paid-workspace.ts';
import { type PrepaidPurchase, prepaidRefunds, prepaying } from './prepaid.ts';

/** Handlers of payments that buy more than an answer. */
export interface Purchases {
  readonly ingest: PaidIngest;
  readonly creation: WorkspaceCreation;
  readonly extension: WorkspaceExtension;
  readonly prepaying: PrepaidPurchase;
  readonly refunds: PrepaidPurchase;
}

export type PurchasesDeps = PaidIngestDeps & WorkspaceExtensionDeps & { readonly prepaid: PrepaidBalances };

export function openPurchases(deps: PurchasesDeps): Purchases {
  return {
    ingest: new PaidIngest(deps),
    creation: new WorkspaceCreation(deps.workspaces),
    extension: new WorkspaceExtension(deps),
    prepaying: prepaying(deps.prepaid),
    refunds: prepaidRefunds(deps.prepaid),
  };
}

/** For the payment gate, which commits or undoes them. */
export function effectHandlers({
  ingest,
  creation,
  extension,
  prepaying,
  refunds,
}: Purchases): EffectHandlers {
  return {
    ingest,
    workspace_create: creation,
    workspace_extend: extension,
    prepay: prepaying,
    prepaid_refund: refunds,
  };
}
