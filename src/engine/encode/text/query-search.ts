import type { native, SearchedText } from '@farthing/native';

/** The search of a query, which the native encoder's thread goes on with. Any other encoder leaves it alone. */
export interface QuerySearch {
  readonly native: InstanceType<typeof native.NativePendingSearch>;
  /** Called when the query is encoded, if the search goes on there. */
  begun(outcome: Promise<SearchedText>): void;
}
