import { useRef, useState } from 'preact/hooks';
import type { Hit } from '../../../client/index.ts';
import { useComing } from '../parts/in-view.ts';
import { HitEntry } from './hit-entry.tsx';

/** Hits drawn at a time: few, so that the page answers in between. */
const STEP = 10;

interface HitListProps {
  readonly hits: readonly Hit[];
  readonly layout: 'list' | 'grid';
  readonly onOpen: (hit: Hit, time?: number) => void;
}

/** The hits, drawn a few at a time as their end comes near. */
export function HitList({ hits, layout, onOpen }: HitListProps) {
  const [drawn, setDrawn] = useState(STEP);
  const end = useRef<HTMLLIElement>(null);
  const isWhole = drawn >= hits.length;
  useComing(end, () => setDrawn(drawn + STEP), `${drawn} ${isWhole}`);
  return (
    <ol class="hits" data-layout={layout}>
      {hits.slice(0, drawn).map((hit, index) => (
        <HitEntry key={`${hit.item.id}/${index}`} hit={hit} onOpen={onOpen} />
      ))}
      {!isWhole && (
        <li class="more" ref={end}>
          <button type="button" onClick={() => setDrawn(drawn + STEP)}>
            {hits.length - drawn} more
          </button>
        </li>
      )}
    </ol>
  );
}
