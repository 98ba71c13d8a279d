import type { Hit } from '@farthing/client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatMs } from '../../model/figures/format.ts';
import { deeper, firstOf, isShown, layoutOf } from '../../model/search/results.ts';
import { filterBy, searchDeeper } from '../../model/search/search.ts';
import { type SearchState, session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { HitDialog } from '../hit/hit-dialog.tsx';
import { AsCode } from './as-code.tsx';
import { Filters } from './filters.tsx';
import { HitList } from './hit-list.tsx';
import { TimingBar } from './timing-bar.tsx';
import { Verdict } from './verdict.tsx';

interface Opened {
  readonly index: number;
  readonly time?: number;
}

/** The hits of the last search, what it took, and a hit large. */
export function Results({ search }: { search: SearchState }) {
  const { searching, filter } = useStore(session);
  const [opened, setOpened] = useState<Opened>();
  const [unfolded, setUnfolded] = useState<object>();
  const { asked, answer, roundTripMs } = search;
  const hits = useMemo(() => answer.hits.filter((hit) => isShown(hit, filter)), [answer, filter]);
  const open = useCallback(
    (hit: Hit, time?: number) => setOpened({ index: hits.indexOf(hit), time }),
    [hits],
  );
  const first = useMemo(() => firstOf(asked, hits), [asked, hits]);
  const listed = unfolded === answer ? hits : first;
  const folded = hits.length - listed.length;
  const place = useRef<HTMLElement>(null);
  useEffect(() => bringIntoView(place.current), [answer]);
  const deeperK = deeper(asked.k, answer.hits.length);
  const shown = opened && hits[opened.index];
  return (
    <section
      class="results"
      ref={place}
      aria-labelledby="results-title"
      data-searching={searching}
      data-answered={answer.answered}
    >
      <div class="summary">
        <h2 id="results-title">
          {sayCount(hits.length, answer.hits.length)}
          <span class="quiet"> in {formatMs(answer.latency_ms)} ms</span>
        </h2>
        {answer.exact && (
          <span
            class="exact"
            title="Proved: no row of the index scores better in any list. This says nothing about relevance."
          >
            complete scan
          </span>
        )}
        <span class="spring" />
        <Filters hits={answer.hits} filter={filter} />
      </div>
      {answer.corrected !== undefined && (
        <p class="corrected">
          Searched for <b>{answer.corrected}</b> (corrected)
        </p>
      )}
      {answer.relaxed?.map((phrase) => (
        <p class="corrected" key={phrase}>
          Nowhere as a phrase, searched as words: <b>{phrase}</b>
        </p>
      ))}
      {asked.like === undefined ? (
        <Verdict answer={answer} />
      ) : (
        answer.hits.length === 0 && <p class="none">Nothing else is like it.</p>
      )}
      <HitList
        key={`${asked.query}/${asked.k}`}
        hits={listed}
        layout={layoutOf(asked, answer)}
        onOpen={open}
      />
      {folded > 0 && (
        <p class="deeper">
          <button type="button" onClick={() => setUnfolded(answer)}>
            Show {folded} less likely
          </button>
        </p>
      )}
      {hits.length === 0 && answer.hits.length > 0 && (
        <p class="none">
          The filter hides {answer.hits.length === 1 ? 'the one hit' : `all ${answer.hits.length} hits`}.{' '}
          <button type="button" onClick={() => filterBy({ kind: undefined, item: undefined })}>
            Show them
          </button>
        </p>
      )}
      {deeperK !== undefined && (
        <p class="deeper">
          <button type="button" aria-disabled={searching} onClick={() => void searchDeeper()}>
            Search for up to {deeperK} hits
          </button>
        </p>
      )}
      <div class="beside">
        <TimingBar timing={answer.timing} roundTripMs={roundTripMs} />
        <AsCode asked={asked} />
      </div>
      {opened && shown && (
        <HitDialog
          hit={shown}
          time={opened.time}
          position={{ index: opened.index, count: hits.length }}
          onMove={(step) => setOpened({ index: opened.index + step })}
          onClose={() => setOpened(undefined)}
        />
      )}
    </section>
  );
}

function sayCount(shown: number, all: number): string {
  if (all === 0) return 'No hits';
  if (shown < all) return `${shown} of ${all} hits`;
  return all === 1 ? 'One hit' : `${all} hits`;
}

/** On a narrow screen the results may begin below what is seen. */
function bringIntoView(results: HTMLElement | null): void {
  if (!results || !matchMedia('(max-width: 900px)').matches) return;
  if (results.getBoundingClientRect().top > innerHeight / 2) results.scrollIntoView({ block: 'start' });
}
