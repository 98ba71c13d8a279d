import type { native, SearchedText } from '@farthing/native';

/** The search of a query, which continues on the native encoder's thread. Other encoders ignore it. */
export interface QuerySearch {
  readonly native: InstanceType<typeof native.NativePendingSearch>;
  /** Called when the query is encoded, if the search continues there. */
  begun(outcome: Promise<SearchedText>): void;
}
