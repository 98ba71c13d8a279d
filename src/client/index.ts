/** The client: Node, Deno, Bun and browsers. It needs fetch, Web Crypto, Blob and streams. */
export type { Condition, Filter } from '@farthing/protocol/labels/filter';
export type { Like, LikePlace } from '@farthing/protocol/labels/like';
export type { Metadata } from '@farthing/protocol/labels/metadata';
export type { Decay, Order } from '@farthing/protocol/labels/order';
export type * from './answers/answers.ts';
export { CLIENT_CODES, type ClientCode, FarthingError } from './answers/error.ts';
export type { ExportOptions, ImportOptions, ImportSummary } from './export.ts';
export {
  type CreateOptions,
  Farthing,
  type FarthingOptions,
  type HouseOptions,
  type NewWorkspace,
  type PrepayOptions,
} from './farthing.ts';
export type { IngestOptions, IngestProgress } from './ingest.ts';
export type { FolderPrice, IngestFolderOptions } from './ingest-folder.ts';
export type {
  IngestLog,
  IngestManyOptions,
  IngestOutcome,
  IngestSummary,
  NamedSource,
} from './ingest-many.ts';
export type { Price } from './payment/authorizations.ts';
export type { Spending, Usd } from './payment/budget.ts';
export { signPayment } from './payment/sign.ts';
export { accountOfSigner, type Eip1193Signer, type Hex, type PaymentAccount } from './payment/wallet.ts';
export { type PreviewOptions, type PreviewPart, previewPath } from './preview.ts';
export { type KeySet, verifyReceipt } from './receipt.ts';
export type { AskedQuestion, GrepOptions, SearchOptions, SearchQuery } from './search.ts';
export type { Source } from './source.ts';
export type { SyncOptions, SyncPlan, SyncSummary } from './sync-folder.ts';
export {
  type ExtendOptions,
  type ExtendWorkspaceOptions,
  type PageOptions,
  type TextOptions,
  Workspace,
  type WorkspaceAccess,
} from './workspace.ts';
