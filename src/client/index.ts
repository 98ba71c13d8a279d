/** The client: Node, Deno, Bun and browsers. It needs fetch, Web Crypto, Blob and streams, and no code of the server. */
export type * from './answers.ts';
export type { Price } from './authorizations.ts';
export type { Spending, Usd } from './budget.ts';
export { CLIENT_CODES, type ClientCode, FarthingError } from './error.ts';
export { type CreateOptions, Farthing, type FarthingOptions, type NewWorkspace } from './farthing.ts';
export type { IngestOptions, IngestProgress } from './ingest.ts';
export type {
  IngestLog,
  IngestManyOptions,
  IngestOutcome,
  IngestSummary,
  NamedSource,
} from './ingest-many.ts';
export { type PreviewOptions, type PreviewPart, previewPath } from './preview.ts';
export { verifyReceipt } from './receipt.ts';
export type { SearchOptions, SearchQuery } from './search.ts';
export { signPayment } from './sign.ts';
export type { Source } from './source.ts';
export { accountOfSigner, type Eip1193Signer, type Hex, type PaymentAccount } from './wallet.ts';
export {
  type ExtendOptions,
  type PageOptions,
  Workspace,
  type WorkspaceAccess,
} from './workspace.ts';
