/** Answers as the server gives them: `/openapi.json` describes every field. */

import type { IngestAnswer as AcceptedIngest, Item } from '@farthing/protocol/schema/items';
import type { Locator } from '@farthing/protocol/schema/search';

export type { Family } from '@farthing/protocol/family';
export type { ExportLine } from '@farthing/protocol/schema/export';
export type { GrepAnswer, GrepLine } from '@farthing/protocol/schema/grep';
export type { HouseWorkspaceAnswer, HouseWorkspaceListAnswer } from '@farthing/protocol/schema/house';
export type { ItemTextAnswer } from '@farthing/protocol/schema/item-text';
export type { Item, ItemDeletedAnswer, ItemsAnswer, PublicJob } from '@farthing/protocol/schema/items';
export type {
  PrepaidAnswer,
  PrepaidBalanceAnswer,
  PrepaidRefundAnswer,
} from '@farthing/protocol/schema/prepaid';
export type { Bound, Hit, Locator, SearchAnswer, Timing } from '@farthing/protocol/schema/search';
export type { ReadyAnswer } from '@farthing/protocol/schema/service';
export type {
  DisposalAnswer,
  HistoryAnswer,
  ReserveEndedAnswer,
  UsageAnswer,
  WorkspaceAnswer,
} from '@farthing/protocol/schema/workspaces';
export type { UnansweredReason } from '@farthing/protocol/search';

/** A rectangle on a page, from its upper left corner, in shares of the page's width and height (0..1). */
export type Box = NonNullable<Locator['box']>;

/** Without its item where the payer's index ended before the payment was settled: `job` says how it ended. */
export type { IngestAnswer as AcceptedIngest } from '@farthing/protocol/schema/items';

/** An upload that was accepted. */
export type IngestAnswer = AcceptedIngest & { readonly item: Item };
