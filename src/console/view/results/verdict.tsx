import type { SearchAnswer } from '@farthing/client';

/** Explains why there is no answer. */
export function Verdict({ answer: { answered, reason, hits } }: { answer: SearchAnswer }) {
  if (answered) return null;
  switch (reason) {
    case 'nothing_searchable':
      return (
        <div class="verdict-card">
          <h3>Nothing is searchable yet</h3>
          <p>Files can be searched as soon as they have been read. This search was not counted.</p>
        </div>
      );
    case 'nothing_found':
      return (
        <div class="verdict-card">
          <h3>Nothing was found</h3>
          <p>No file has these words or anything like them. Try other words, or fewer.</p>
        </div>
      );
    case 'nothing_in_filter':
      return (
        <div class="verdict-card">
          <h3>No file meets the conditions</h3>
          <p>Nothing was searched. Leave out a condition above.</p>
        </div>
      );
    default:
      return (
        <div class="verdict-card">
          <h3>No good match</h3>
          <p>
            Probably not in these files.
            {hits.length > 0 && ' What comes nearest is below; none of it is likely to answer.'}
          </p>
        </div>
      );
  }
}
