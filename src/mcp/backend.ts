import type { Item, PreviewPart } from '@farthing/client';

/** Instead of a workspace's id: the payer's own index, paid by the call. */
export const NO_WORKSPACE = 'none';

/** The workspace that a call uses. */
export interface Scope {
  readonly workspace?: string;
  readonly token?: string;
}

/** An answer, with the receipt of its payment when it was charged. */
export interface Answered<T> {
  readonly body: T;
  readonly receipt?: Readonly<Record<string, unknown>>;
  /** The answer's warning: the workspace ends soon. */
  readonly warning?: string | undefined;
  /** The workspace that the call was for, and its token where that came with the call. */
  readonly scope: Scope;
}

/** Reads what results link to. */
export interface ItemSource {
  /** Address of the server that the results link to. */
  readonly baseUrl: string;
  /** Metadata. Without a workspace, of the payer's own index, where it is paid for. */
  item(item: string, scope: Scope): Promise<Item>;
  /** A small picture (WebP); paid for like the metadata. */
  preview(item: string, part: PreviewPart, scope: Scope): Promise<Blob>;
}

/** Address of an item, for those who may read it. */
export function itemAddress({ baseUrl }: ItemSource, item: string, { workspace }: Scope): string {
  const owner = workspace === undefined ? '' : `workspaces/${workspace}/`;
  return `${baseUrl}/agent/v1/${owner}items/${item}`;
}

/** A call without a payment, or with one that was refused. It becomes a result of x402's MCP transport. */
export class PaymentNeeded extends Error {
  /** x402 v2 `PaymentRequired`. */
  readonly required: Readonly<Record<string, unknown>>;
  /** Receipt of a failed settlement. */
  readonly receipt: Readonly<Record<string, unknown>> | undefined;

  constructor(required: Readonly<Record<string, unknown>>, receipt?: Readonly<Record<string, unknown>>) {
    super(String(required.error ?? 'payment_required'));
    this.required = required;
    this.receipt = receipt;
  }
}
