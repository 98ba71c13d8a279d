import type { Family, IngestAnswer, Item, PreviewPart, SearchAnswer, UsageAnswer } from '../client/index.ts';

export interface SearchArguments {
  readonly query?: string;
  readonly image_b64?: string;
  readonly image_path?: string;
  readonly families?: readonly Family[];
  readonly exact?: boolean;
  readonly k?: number;
  readonly min_confidence?: number;
}

/** How many hits are also shown as pictures. */
export interface ShownArguments {
  readonly thumbnails?: number;
}

/** Bytes, where a file came apart from its call. */
export interface IngestArguments {
  readonly path?: string;
  readonly text?: string | Uint8Array;
  readonly content_b64?: string | Uint8Array;
  readonly name?: string;
}

export interface CreateArguments {
  readonly ttl_minutes?: number;
  readonly spend_limit_usd?: number;
}

/** Which workspace a call means. */
export interface Scope {
  readonly workspace?: string;
  readonly token?: string;
}

/** An answer, with the receipt of its payment when it was charged. */
export interface Answered<T> {
  readonly body: T;
  readonly receipt?: Readonly<Record<string, unknown>>;
  /** The workspace that was meant in the end, and its token where that came with the call. */
  readonly scope: Scope;
}

/** What the tools call: a client with a wallet of its own, or the server that they are mounted on. */
export interface Backend {
  /** `local`: paths can be read and tokens are kept here; `remote`: neither. */
  readonly kind: 'local' | 'remote';
  search(search: SearchArguments, scope: Scope): Promise<Answered<SearchAnswer>>;
  ingest(file: IngestArguments, scope: Scope): Promise<Answered<IngestAnswer>>;
  createWorkspace(asked: CreateArguments): Promise<Answered<Readonly<Record<string, unknown>>>>;
  usage(scope: Scope): Promise<Answered<UsageAnswer>>;
  dispose(scope: Scope): Promise<Answered<Readonly<Record<string, unknown>>>>;
  /** Metadata, and a small picture (WebP). Without a workspace of the payer's own index, where both are paid for. */
  item(item: string, scope: Scope): Promise<Item>;
  preview(item: string, part: PreviewPart, scope: Scope): Promise<Blob>;
  /** Of the server whose addresses the results name. */
  readonly baseUrl: string;
}

/** Address of an item, for whoever may read it. */
export function itemAddress({ baseUrl }: Backend, item: string, { workspace }: Scope): string {
  const owner = workspace === undefined ? '' : `workspaces/${workspace}/`;
  return `${baseUrl}/agent/v1/${owner}items/${item}`;
}

/** A call without a payment, or with one that was not taken: the MCP transport of x402 makes a result of it. */
export class PaymentNeeded extends Error {
  /** x402 v2 `PaymentRequired`. */
  readonly required: Readonly<Record<string, unknown>>;
  /** Of a settlement that failed. */
  readonly receipt: Readonly<Record<string, unknown>> | undefined;

  constructor(required: Readonly<Record<string, unknown>>, receipt?: Readonly<Record<string, unknown>>) {
    super(String(required.error ?? 'payment_required'));
    this.required = required;
    this.receipt = receipt;
  }
}
