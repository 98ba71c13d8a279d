import type { UnansweredReason } from '@farthing/protocol/search';

const TEXTS: Readonly<Record<UnansweredReason, string>> = {
  nothing_searchable: 'Nothing is searchable yet.',
  nothing_in_filter: 'No file meets the filter.',
  nothing_found: 'Nothing was found.',
  unlikely: 'Probably not in these files: no hit is likely to answer.',
};

/** Why there is no answer, for people and models. */
export function unansweredText(reason: UnansweredReason = 'unlikely'): string {
  return TEXTS[reason];
}
