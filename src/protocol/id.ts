import type { Address } from './address.ts';
import { FarthingError } from './error.ts';

declare const kind: unique symbol;

/** A string that this file alone makes, so that an id of one kind never passes for another's. It is stored and sent as it is. */
type Branded<Kind extends string> = string & { readonly [kind]: Kind };

export type WorkspaceId = Branded<'workspace'>;
export type PayerId = Branded<'payer'>;
/** Owner of a private index: a workspace, or a payer's wallet. */
export type TenantId = WorkspaceId | PayerId;
export type ItemId = Branded<'item'>;
export type JobId = Branded<'job'>;
type RequestId = Branded<'request'>;
/** An extension of a workspace, whose id it begins with. */
export type StepId = Branded<'step'>;
/** Prepaid money on its way in or out. */
export type PrepaidStepId = Branded<'prepaid'>;

interface Ids {
  readonly workspace: WorkspaceId;
  readonly payer: PayerId;
  readonly item: ItemId;
  readonly job: JobId;
  readonly request: RequestId;
  readonly step: StepId;
  readonly prepaid: PrepaidStepId;
}

const FORMS: Readonly<Record<keyof Ids, RegExp>> = {
  workspace: /^ws_[0-9a-f]{32}$/,
  payer: /^payer_0x[0-9a-f]{40}$/,
  item: /^item_[0-9a-f]{32}$/,
  job: /^job_[0-9a-f]{32}$/,
  request: /^req_[0-9a-f]{32}$/,
  step: /^ws_[0-9a-f]{32}\/[0-9a-f]{32}$/,
  prepaid: /^pre_[0-9a-f]{32}$/,
};

/** Prefixes of 128-bit ids. */
const PREFIXES = { workspace: 'ws_', item: 'item_', job: 'job_', request: 'req_', prepaid: 'pre_' } as const;

/** The text as an id of this kind; undefined when it is none. */
export function parseId<Kind extends keyof Ids>(ofKind: Kind, text: string): Ids[Kind] | undefined {
  return FORMS[ofKind].test(text) ? (text as Ids[Kind]) : undefined;
}

/** Like `parseId`, for ids that the server itself has stored. @throws internal when it is no such id */
export function storedId<Kind extends keyof Ids>(ofKind: Kind, text = ''): Ids[Kind] {
  const id = parseId(ofKind, text);
  if (id === undefined) throw new FarthingError('internal', `"${text}" is stored as the id of a ${ofKind}`);
  return id;
}

/** Whether an id belongs to this store; the ids of its Tenants and jobs must. */
export type LeadsHere = (id: TenantId | JobId) => boolean;

/** A new id of 128 random bits. @param suits accepts or rejects each draw: with n stores, n draws on average */
export function newId<Kind extends keyof typeof PREFIXES>(
  ofKind: Kind,
  suits: (id: Ids[Kind]) => boolean = () => true,
): Ids[Kind] {
  for (;;) {
    const id = idFrom(ofKind, randomBits());
    if (suits(id)) return id;
  }
}

/** The id with these 128 bits, in hexadecimal: for ids that follow from something else. */
export function idFrom<Kind extends keyof typeof PREFIXES>(ofKind: Kind, bits: string): Ids[Kind] {
  return `${PREFIXES[ofKind]}${bits}` as Ids[Kind];
}

const ID_BYTES = 16;
const HEXADECIMAL = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** Random bytes for the next ids: asking the system for each costs more than all else of an id. */
const pool = { bytes: new Uint8Array(64 * ID_BYTES), used: 64 * ID_BYTES };

/** 128 random bits in hexadecimal. Browsers have this source, too: the client's types import this module. */
function randomBits(): string {
  if (pool.used === pool.bytes.length) {
    crypto.getRandomValues(pool.bytes);
    pool.used = 0;
  }
  let bits = '';
  for (const end = pool.used + ID_BYTES; pool.used < end; pool.used++)
    bits += HEXADECIMAL[pool.bytes[pool.used]!];
  return bits;
}

/** The Tenant of a payer: its wallet's address, in lower case. */
export function payerTenantId(address: Address): PayerId {
  return `payer_${address.toLowerCase()}` as PayerId;
}

/** The wallet of a payer, as `payerTenantId` took it. */
export function walletOf(payer: PayerId): Address {
  return payer.slice('payer_'.length) as Address;
}

/** Tells a payer's index from a workspace. */
export function isPayer(tenant: TenantId): tenant is PayerId {
  return FORMS.payer.test(tenant);
}

/** An Item has one job, and the id of either gives the other's: no second index is needed. */
export function jobOfItem(item: ItemId): JobId {
  return idFrom('job', item.slice(PREFIXES.item.length));
}

export function itemOfJob(job: JobId): ItemId {
  return idFrom('item', job.slice(PREFIXES.job.length));
}

export function newStepId(workspace: WorkspaceId): StepId {
  return `${workspace}/${randomBits()}` as StepId;
}

/** The workspace that a step extends. */
export function workspaceOfStep(step: StepId): WorkspaceId {
  return step.slice(0, step.indexOf('/')) as WorkspaceId;
}
