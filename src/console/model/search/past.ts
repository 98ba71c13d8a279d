import { workspaceOf } from '../client.ts';
import { session } from '../session.ts';

const SHOWN = 30;

/** Reads the workspace's past searches, as the server keeps them. */
export async function readPast(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  const { entries } = await workspaceOf(opened).history({ limit: SHOWN });
  if (session.value.opened?.id === opened.id) session.set({ past: entries });
}
