import { isUnauthorized } from '../attempt.ts';
import { workspaceOf } from '../client.ts';
import { forgetPreviews } from '../pictures.ts';
import { forgetSearches } from '../search/kept.ts';
import { NO_WORKSPACE, session } from '../session.ts';
import { keptEnded, keptWorkspace } from '../storage.ts';

/** Reads time, money and contents. Leaves a workspace whose time is over. */
export async function refreshUsage(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  try {
    const usage = await workspaceOf(opened).usage();
    if (session.value.opened?.id !== opened.id) return;
    session.set({ usage, endsAt: performance.now() + usage.ttl_seconds_left * 1000 });
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    if (session.value.opened?.id !== opened.id) return;
    leaveWorkspace();
    keptEnded.write(opened);
    session.set({ ended: opened, said: 'The time of the workspace is over. Its data was destroyed.' });
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
