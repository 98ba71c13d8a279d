import { isSample, SAMPLE_SEARCHES } from '../../model/files/samples.ts';
import { changeForm, search } from '../../model/search/search.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { trySamples } from '../../model/workspace/visit.ts';

/** First steps before any search. */
export function Invitation() {
  const { files, busy } = useStore(session);
  if (files.length === 0)
    return (
      <div class="invitation">
        <p>Add files first: text, PDF, office files, mail, pictures, films or sound. Drop them anywhere.</p>
        <button type="button" aria-disabled={busy !== undefined} onClick={() => void trySamples()}>
          {busy ?? 'Try it with sample files'}
        </button>
      </div>
    );
  const isReady = files.some(({ state }) => state === 'searchable' || state === 'duplicate');
  return (
    <div class="invitation">
      <p>
        {isReady
          ? 'Ask something: words, “a quoted phrase”, what a picture shows, or drop a picture on the field.'
          : 'The files are being read. Each can be searched as soon as it is done.'}
      </p>
      {isReady && files.every(({ name }) => isSample(name)) && <SampleSearches />}
    </div>
  );
}

function SampleSearches() {
  const ask = (query: string) => {
    changeForm({ query });
    void search();
  };
  return (
    <ul class="chips">
      {SAMPLE_SEARCHES.map((query) => (
        <li key={query}>
          <button type="button" class="chip-button" onClick={() => ask(query)}>
            {query}
          </button>
        </li>
      ))}
    </ul>
  );
}
