import type { UnansweredReason } from '@farthing/protocol/search';

/** Why there is no answer, for people and models. */
export function unansweredText(reason: UnansweredReason | undefined): string {
  switch (reason) {
    case 'nothing_searchable':
      return 'Nothing is searchable yet.';
    case 'nothing_in_filter':
      return 'No file meets the filter.';
    case 'nothing_found':
      return 'Nothing was found.';
    case 'unlikely':
    case undefined:
      return 'Probably not in these files: no hit is likely to answer.';
  }
}
