import type { Hit } from '@farthing/client';
import { memo } from 'preact/compat';
import { hasPagePicture, kindOf, momentsOf } from '../../model/search/results.ts';
import { moreLike } from '../../model/search/search.ts';
import { LikeIcon } from '../controls/icons.tsx';
import { Confidence } from '../parts/confidence.tsx';
import { Moments } from '../parts/moments.tsx';
import { placeOf, titleOf } from '../parts/place.ts';
import { Snippet, TableRow } from '../parts/snippet.tsx';
import { Thumbnail } from '../parts/thumbnail.tsx';

interface HitEntryProps {
  readonly hit: Hit;
  /** `time`: a moment other than the hit's best. */
  readonly onOpen: (hit: Hit, time?: number) => void;
}

/** One hit: picture or passage, place, and confidence. The style sheet makes a row or a card of it. */
export const HitEntry = memo(({ hit, onOpen }: HitEntryProps) => {
  const { item, family, locator, snippet, highlights, table, segments, also = [] } = hit;
  const title = titleOf(hit);
  const place = placeOf(hit);
  const moments = momentsOf(hit);
  const isStrip = moments.length > 1;
  return (
    <li class="hit" data-family={family} data-kind={kindOf(hit)} data-strip={isStrip}>
      {hasPagePicture(hit) && !isStrip && (
        <button type="button" class="face" tabIndex={-1} aria-hidden="true" onClick={() => onOpen(hit)}>
          <Thumbnail of={hit} box={locator.box} time={locator.time_s} />
        </button>
      )}
      <div class="about">
        <h3>
          <button type="button" class="title" title={item.name} onClick={() => onOpen(hit)}>
            {title}
          </button>
        </h3>
        <p class="place">
          {[
            title === item.name ? undefined : item.name,
            place,
            place === locator.heading ? undefined : locator.heading,
            kindOf(hit) === 'text' && segments > 1 ? `${segments} passages` : undefined,
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {table ? (
          <TableRow table={table} />
        ) : (
          snippet !== undefined && snippet !== item.name && <Snippet text={snippet} marks={highlights} />
        )}
        {also.map((other) => (
          <Snippet key={other.locator.char_start} text={other.snippet ?? ''} marks={other.highlights} />
        ))}
        {isStrip && <Moments hit={hit} moments={moments} onOpen={(time) => onOpen(hit, time)} />}
        <div class="foot">
          <Confidence hit={hit} />
          <button
            type="button"
            class="like"
            aria-label={`More like this: ${title}`}
            onClick={() => void moreLike(hit)}
          >
            <LikeIcon /> More like this
          </button>
        </div>
      </div>
    </li>
  );
});
