/** Answers as the server gives them: `/openapi.json` describes every field. */

import type { IngestAnswer as AcceptedIngest, Item } from '../../api/items.ts';
import type { Locator } from '../../api/search.ts';

export type { ExportLine } from '../../api/export.ts';
export type { ItemTextAnswer } from '../../api/item-text.ts';
export type { Item, ItemDeletedAnswer, ItemsAnswer, PublicJob } from '../../api/items.ts';
export type { PrepaidAnswer, PrepaidRefundAnswer } from '../../api/prepaid.ts';
export type { Bound, Hit, Locator, SearchAnswer, Timing } from '../../api/search.ts';
export type { ReadyAnswer } from '../../api/service.ts';
export type {
  DisposalAnswer,
  HistoryAnswer,
  ReserveEndedAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from '../../api/workspaces.ts';
export type { Family } from '../../domain/family.ts';
export type { UnansweredReason } from '../../domain/search.ts';

/** A rectangle on a page, from its upper left corner, in shares of the page's width and height (0..1). */
export type Box = NonNullable<Locator['box']>;

/** Without its item where the payer's index ended before the payment was settled: `job` says how it ended. */
export type { IngestAnswer as AcceptedIngest } from '../../api/items.ts';

/** An upload that was accepted. */
export type IngestAnswer = AcceptedIngest & { readonly item: Item };
