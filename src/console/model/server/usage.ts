import { NO_WORKSPACE, session } from '../state/session.ts';
import { keptEnded, keptWorkspace } from '../state/storage.ts';
import { isUnauthorized } from './attempt.ts';
import { workspaceOf } from './client.ts';
import { forgetSearches } from './kept-searches.ts';
import { forgetPreviews } from './pictures.ts';

/** Reads time, money and contents. Leaves an expired workspace. */
export async function refreshUsage(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  try {
    const usage = await workspaceOf(opened).usage();
    if (session.value.opened?.id !== opened.id) return;
    const { ttl_seconds_left: left } = usage;
    session.set({ usage, endsAt: left === null ? undefined : performance.now() + left * 1000 });
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    if (session.value.opened?.id !== opened.id) return;
    leaveWorkspace();
    keptEnded.write(opened);
    session.set({ ended: opened, said: 'The workspace has expired. Its data was destroyed.' });
  }
}

/** Forgets all of the workspace that is open. */
export function leaveWorkspace(): void {
  keptWorkspace.write(undefined);
  forgetPreviews();
  forgetSearches();
  history.replaceState(null, '', location.pathname);
  session.set(NO_WORKSPACE);
}
