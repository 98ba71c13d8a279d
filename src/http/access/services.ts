import type { ReadyAnswer } from '../../api/service.ts';
import type { TenantId } from '../../domain/id.ts';
import type { AtomicAmount } from '../../domain/money.ts';
import type { Ingest } from '../../ingest/ingest.ts';
import type { Previews } from '../../ingest/items/previews.ts';
import type { TenantItems } from '../../ingest/tenant-items.ts';
import type { PaymentGate } from '../../payment/gate/gate.ts';
import type { Purchases } from '../../purchases/purchases.ts';
import type { Search } from '../../search/search.ts';
import type { PayerIndex } from '../../workspace/payer/payer-index.ts';
import type { TenantLimits } from '../../workspace/tenant-limits.ts';
import type { Workspaces } from '../../workspace/workspaces.ts';
import type { Incoming } from '../body/incoming.ts';

/** What the routes need; the server wires it. */
export interface Services {
  /** Public address of the server; known once it listens. */
  readonly baseUrl: () => string;
  readonly prices: Prices;
  readonly limits: HttpLimits;
  readonly incoming: Incoming;
  readonly gate: PaymentGate;
  readonly search: Search;
  readonly ingest: Ingest;
  readonly workspaces: Workspaces;
  readonly items: TenantItems;
  readonly previews: Previews;
  readonly purchases: Purchases;
  readonly payerIndex: PayerIndex;
  readonly tenantLimits: TenantLimits;
  /** RFC 3339 of the end of a Tenant's data as it looks now; null for an unknown one. */
  readonly expiry: (tenant: TenantId) => string | null;
  readonly onFault: (error: unknown, requestId: string) => void;
  readonly readiness: () => Readiness;
  readonly jwks: () => object;
}

export interface Prices {
  readonly search: AtomicAmount;
  readonly ingest: AtomicAmount;
  readonly item: AtomicAmount;
}

export interface HttpLimits {
  readonly searchBodyBytesMax: number;
  readonly jsonBodyBytesMax: number;
  readonly fileBytesMax: number;
  /** Of all bodies that wait in memory. */
  readonly bodiesBytesMax: number;
  readonly bodyBytesPerSecondMin: number;
  /** Of all uploads that are received, on the disk. */
  readonly incomingBytesMax: number;
  readonly freeDiskBytesMin: number;
  /** Longest `Prefer: wait=` that is honoured. */
  readonly waitSecondsMax: number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly body: Omit<ReadyAnswer, 'ready'>;
}
