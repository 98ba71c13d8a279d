import type { Search } from '@farthing/engine/search/search';
import type { PaymentGate } from '@farthing/payment/gate/gate';
import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import type { TenantId } from '@farthing/protocol/id';
import type { AtomicAmount } from '@farthing/protocol/money';
import type { ReadyAnswer } from '@farthing/protocol/schema/service';
import type { Ingest } from '../../ingest/ingest.ts';
import type { Previews } from '../../ingest/items/previews.ts';
import type { TenantItems } from '../../ingest/tenant-items.ts';
import type { Prices } from '../../purchases/prices.ts';
import type { Purchases } from '../../purchases/purchases.ts';
import type { HouseKeys } from '../../workspace/house/house-keys.ts';
import type { PayerIndex } from '../../workspace/payer/payer-index.ts';
import type { TenantLimits } from '../../workspace/tenant-limits.ts';
import type { Workspaces } from '../../workspace/workspaces.ts';
import type { Incoming } from '../body/incoming.ts';

/** Dependencies of the routes; the server wires them. */
export interface Services {
  /** Public address of the server; known once it listens. */
  readonly baseUrl: () => string;
  readonly prices: Prices;
  readonly limits: HttpLimits;
  readonly terms: Terms;
  readonly incoming: Incoming;
  readonly gate: PaymentGate;
  readonly search: Search;
  readonly ingest: Ingest;
  readonly workspaces: Workspaces;
  /** Keys of the operator's own agents; undefined with several servers. */
  readonly house: HouseKeys | undefined;
  readonly items: TenantItems;
  readonly previews: Previews;
  readonly purchases: Purchases;
  readonly payerIndex: PayerIndex;
  readonly prepaid: PrepaidBalances;
  /** Most prepaid money of one wallet; 0: prepayment is off. */
  readonly prepaidUsdMax: AtomicAmount;
  readonly tenantLimits: TenantLimits;
  /** RFC 3339 of the end of a Tenant's data as it looks now; null for an unknown one. */
  readonly expiry: (tenant: TenantId) => string | null;
  readonly onFault: (error: unknown, requestId: string) => void;
  readonly readiness: () => Readiness;
  readonly jwks: () => Promise<{ readonly keys: readonly PublicKey[] }>;
}

/** A JSON Web Key (RFC 7517) with an id. */
export interface PublicKey {
  readonly kid?: string;
}

/** Facts for the pages that agents read, besides prices. */
export interface Terms {
  /** Play money of a wallet that is new to the local facilitator, in US dollars; undefined where money is real. */
  readonly playUsd: string | undefined;
  /** The currency and network, such as `USDC on eip155:8453`. */
  readonly coin: string;
  /** The coin is given away: it has no value. */
  readonly isTestnet: boolean;
  /** Name of the network in the body of a 402. */
  readonly bodyNetwork: string;
  /** Whether that is the x402 v1 name. */
  readonly servesV1: boolean;
  /** The service's name, as catalogues show it. */
  readonly name: string;
  /** Mail address or web page of the operator; empty: not shown. */
  readonly contact: string;
  readonly pagesMax: number;
  readonly mediaSecondsMax: number;
  readonly payerIndexMinutes: number;
}

export interface HttpLimits {
  readonly searchBodyBytesMax: number;
  readonly jsonBodyBytesMax: number;
  readonly fileBytesMax: number;
  /** All buffered bodies together. */
  readonly bodiesBytesMax: number;
  readonly bodyBytesPerSecondMin: number;
  /** Bytes of uploads being received, on the disk: unproved ones, the others, and of these one Tenant's. */
  readonly incomingBytesMax: { readonly unproved: number; readonly proved: number; readonly tenant: number };
  readonly freeDiskBytesMin: number;
  /** Longest `Prefer: wait=` that is honoured. */
  readonly waitSecondsMax: number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly body: Omit<ReadyAnswer, 'ready'>;
}
