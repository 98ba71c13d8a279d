import type { HistoryAnswer } from '@farthing/client';
import { repeat } from '../../model/search/search.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { PictureIcon } from '../controls/icons.tsx';

type Entry = HistoryAnswer['entries'][number];

const SHOWN = 12;

/** Previous searches, a click away. */
export function PastSearches() {
  const { past } = useStore(session);
  const different = [...new Map(past.toReversed().map((entry) => [keyOf(entry), entry])).values()]
    .toReversed()
    .slice(0, SHOWN);
  if (different.length === 0) return null;
  return (
    <nav class="past" aria-label="Past searches">
      <span class="quiet" aria-hidden="true">
        Past
      </span>
      <ul>
        {different.map((entry) => (
          <li key={keyOf(entry)}>
            <button
              type="button"
              class="chip-button"
              title={titleOf(entry)}
              onClick={() => void repeat(entry)}
            >
              {entry.image_sha256 !== undefined && <PictureIcon />}
              {entry.query ?? 'a picture'}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function keyOf({ query, image_sha256, families }: Entry): string {
  return JSON.stringify([query, image_sha256, families]);
}

function titleOf({ at, hits, families }: Entry): string {
  const where = families ? `, ${families.join(', ')}` : '';
  return `${new Date(at).toLocaleTimeString()}: ${hits === 1 ? 'one hit' : `${hits} hits`}${where}`;
}
