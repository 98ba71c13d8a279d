import type { Hit } from '@farthing/client';
import { memo } from 'preact/compat';
import { useRef, useState } from 'preact/hooks';
import { useComing } from '../parts/in-view.ts';
import { HitEntry } from './hit-entry.tsx';

/** Hits drawn at a time: few, so that the page answers in between. */
const STEP = 5;

interface HitListProps {
  readonly hits: readonly Hit[];
  readonly layout: 'list' | 'grid';
  readonly onOpen: (hit: Hit, time?: number) => void;
}

/** The hits, drawn a few at a time as their end comes near. */
export function HitList({ hits, layout, onOpen }: HitListProps) {
  const [drawn, setDrawn] = useState(STEP);
  const end = useRef<HTMLDivElement>(null);
  const isWhole = drawn >= hits.length;
  useComing(end, () => setDrawn(drawn + STEP), `${drawn} ${isWhole}`);
  return (
    <div class="hits" data-layout={layout}>
      {Array.from({ length: Math.ceil(Math.min(drawn, hits.length) / STEP) }, (_, index) => (
        <Batch key={index} hits={hits} from={index * STEP} onOpen={onOpen} />
      ))}
      {!isWhole && (
        <div class="more" ref={end}>
          <button type="button" onClick={() => setDrawn(drawn + STEP)}>
            {hits.length - drawn} more
          </button>
        </div>
      )}
    </div>
  );
}

interface BatchProps {
  readonly hits: readonly Hit[];
  readonly from: number;
  readonly onOpen: HitListProps['onOpen'];
}

/** The browser looks at each batch, not at each hit, to know what is on the screen. */
const Batch = memo(({ hits, from, onOpen }: BatchProps) => (
  <ol class="batch" start={from + 1}>
    {hits.slice(from, from + STEP).map((hit, index) => (
      <HitEntry key={`${hit.item.id}/${from + index}`} hit={hit} onOpen={onOpen} />
    ))}
  </ol>
));
