import { useMemo, useState } from 'preact/hooks';
import { unansweredText } from '../../../client/answers/unanswered.ts';
import type { Hit } from '../../../client/index.ts';
import { formatMs } from '../../model/format.ts';
import { type SearchState, session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { HitDialog } from '../hit/hit-dialog.tsx';
import { HitCard } from './hit-card.tsx';
import { TimingBar } from './timing-bar.tsx';

/** The hits of the last search, and its timing. */
export function Results({ search }: { search: SearchState }) {
  const { searching } = useStore(session);
  const [shown, setShown] = useState<Hit>();
  const { asked, answer, roundTripMs } = search;
  const words = useMemo(() => wordsOf(asked.query), [asked.query]);
  const count = answer.hits.length;
  return (
    <section class="results" aria-labelledby="results-title" data-searching={searching}>
      <div class="summary">
        <h2 id="results-title">
          {count === 0 ? 'Nothing found' : count === 1 ? 'One hit' : `${count} hits`}
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
      </div>
      {!answer.answered && <p class="unanswered">{unansweredText(answer.reason)}</p>}
      <TimingBar timing={answer.timing} roundTripMs={roundTripMs} />
      <ol class="hits">
        {answer.hits.map((hit, index) => (
          <HitCard key={`${hit.item.id}/${index}`} hit={hit} words={words} onOpen={setShown} />
        ))}
      </ol>
      {shown && <HitDialog hit={shown} words={words} onClose={() => setShown(undefined)} />}
    </section>
  );
}

const WORD_LENGTH_MIN = 3;

/** What is worth marking in a snippet. */
function wordsOf(query: string): RegExp | undefined {
  const words = query.match(/[\p{L}\p{N}]+/gu)?.filter((word) => word.length >= WORD_LENGTH_MIN) ?? [];
  return words.length === 0
    ? undefined
    : new RegExp(`(?<![\\p{L}\\p{N}])(${[...new Set(words)].join('|')})`, 'giu');
}
