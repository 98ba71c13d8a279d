import type { Hit } from '@farthing/client';
import { clockText } from '@farthing/protocol/figures';
import { formatShare } from '../../model/figures/format.ts';
import { type FoundMoment, kindOf } from '../../model/search/results.ts';
import { Thumbnail } from './thumbnail.tsx';

interface MomentsProps {
  readonly hit: Hit;
  readonly moments: readonly FoundMoment[];
  readonly onOpen: (time: number) => void;
}

/** Hits in a film or recording, in order of time. */
export function Moments({ hit, moments, onOpen }: MomentsProps) {
  const isFilm = kindOf(hit) === 'film';
  return (
    <ol class="strip" aria-label="Moments">
      {moments.map(({ time_s, confidence }) => (
        <li key={time_s}>
          <button
            type="button"
            data-best={time_s === hit.locator.time_s}
            aria-label={`Play from ${clockText(time_s)}, ${formatShare(confidence)}`}
            onClick={() => onOpen(time_s)}
          >
            {isFilm && <Thumbnail of={{ item: hit.item, locator: { time_s } }} />}
            <span class="moment-facts">
              {clockText(time_s)} <b>{formatShare(confidence)}</b>
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
