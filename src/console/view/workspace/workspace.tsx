import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { useEffect } from 'preact/hooks';
import { search as searchAgain } from '../../model/search/search.ts';
import { refreshUsage } from '../../model/server/usage.ts';
import { type OpenWorkspace, session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { Fold } from '../controls/fold.tsx';
import { Files } from '../files/files.tsx';
import { Facts } from '../parts/facts.tsx';
import { Results } from '../results/results.tsx';
import { SearchForm } from '../search/search-form.tsx';
import { DisposeButton } from './dispose-button.tsx';
import { Invitation } from './invitation.tsx';
import { Clock, Time } from './time.tsx';

const REFRESH_MS = 15_000;

/** An open workspace: search, files and time, results. */
export function WorkspaceView({ opened }: { opened: OpenWorkspace }) {
  useEffect(() => {
    const timer = setInterval(() => void refreshUsage().catch(() => undefined), REFRESH_MS);
    return () => clearInterval(timer);
  }, [opened.id]);
  return (
    <div class="workspace">
      <h1 class="unseen">Workspace</h1>
      <SearchForm />
      <aside class="side" aria-label="Workspace">
        <Fold title="Workspace" brief={<Clock />} class="lease">
          <Time />
          <UsageList />
          <DisposeButton />
        </Fold>
        <Files />
      </aside>
      <Found />
    </div>
  );
}

/** The answer, or its placeholder. */
function Found() {
  const { search, searchFault, searching } = useStore(session);
  if (searchFault !== undefined)
    return (
      <div class="results verdict-card" role="alert">
        <h2>The search failed</h2>
        <p>{searchFault}</p>
        <button type="button" onClick={() => void searchAgain()}>
          Try again
        </button>
      </div>
    );
  if (search) return <Results search={search} />;
  return searching ? <p class="invitation quiet">Searching…</p> : <Invitation />;
}

/** Cost and activity of the workspace so far. */
function UsageList() {
  const { usage } = useStore(session);
  return usage ? <Facts class="usage" fields={SHOWN_FIELDS.usage} record={usage} /> : null;
}
