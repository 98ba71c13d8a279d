import type { SearchAnswer } from '@farthing/protocol/schema/search';

/** How a query was understood where that is not as it was written, for people and models; none where it is. */
export function understoodTexts({
  corrected,
  relaxed = [],
}: Pick<SearchAnswer, 'corrected' | 'relaxed'>): string[] {
  return [
    ...(corrected === undefined ? [] : [`Understood as: ${corrected}`]),
    ...relaxed.map((phrase) => `Nowhere as a phrase, searched as words: ${phrase}`),
  ];
}
