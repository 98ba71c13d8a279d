import { useEffect } from 'preact/hooks';
import type { OpenWorkspace } from '../../model/session.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { refreshUsage } from '../../model/workspace/workspace.ts';
import { Files } from '../files/files.tsx';
import { Results } from '../results/results.tsx';
import { SearchForm } from '../search/search-form.tsx';
import { DisposeButton } from './dispose-button.tsx';
import { Time } from './time.tsx';
import { UsageList } from './usage-list.tsx';

const REFRESH_MS = 15_000;

/** An open workspace: its state and files on one side, search and results on the other. */
export function WorkspaceView({ opened }: { opened: OpenWorkspace }) {
  const { search } = useStore(session);
  useEffect(() => {
    const timer = setInterval(() => void refreshUsage().catch(() => undefined), REFRESH_MS);
    return () => clearInterval(timer);
  }, [opened.id]);
  return (
    <div class="workspace">
      <h1 class="unseen">Workspace</h1>
      <aside class="side" aria-label="Workspace">
        <section class="card">
          <Time />
          <UsageList />
          <DisposeButton />
        </section>
        <Files />
      </aside>
      <section class="desk" aria-label="Search">
        <SearchForm />
        {search ? <Results search={search} /> : <Invitation />}
      </section>
    </div>
  );
}

function Invitation() {
  const { files } = useStore(session);
  const ready = files.some(({ state }) => state === 'searchable' || state === 'duplicate');
  return (
    <div class="invitation">
      <p>
        {ready
          ? 'Ask something: words, “a quoted phrase”, what a picture shows, or drop a picture on the field.'
          : 'Add files first: text, Markdown, HTML, PDF, or pictures. They can be searched as soon as their dots are full.'}
      </p>
    </div>
  );
}
