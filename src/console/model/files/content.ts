import { workspaceOf } from '../server/client.ts';
import { session } from '../state/session.ts';

/** An item's whole file. @throws Error when no workspace is open */
export function contentOf(item: string, signal?: AbortSignal): Promise<Blob> {
  const { opened } = session.value;
  if (!opened) throw new Error('No workspace is open.');
  return workspaceOf(opened).content(item, { signal });
}

/** An item's speech, as WebVTT. @throws Error when no workspace is open */
export async function captionsOf(item: string, signal?: AbortSignal): Promise<Blob> {
  const { opened } = session.value;
  if (!opened) throw new Error('No workspace is open.');
  return new Blob([await workspaceOf(opened).captions(item, { signal })], { type: 'text/vtt' });
}

/** Hands an item's file to the browser's downloads. */
export async function saveItem({ id, name }: { readonly id: string; readonly name: string }): Promise<void> {
  save(await contentOf(id), name);
}

/** Long enough for a browser to begin a download. */
const FREED_AFTER_MS = 60_000;

export function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), FREED_AFTER_MS);
}
