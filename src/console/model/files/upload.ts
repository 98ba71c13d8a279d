import { FarthingError, type IngestProgress } from '@farthing/client';
import { faultOf } from '../server/attempt.ts';
import { workspaceOf } from '../server/client.ts';
import { refreshUsage } from '../server/usage.ts';
import type { FileEntry } from '../state/entry.ts';
import { type OpenWorkspace, session } from '../state/session.ts';
import { pathOf } from './dropped.ts';

/** Uploads at a time. */
const AT_ONCE = 3;

const queue: { readonly key: string; readonly file: File; readonly opened: OpenWorkspace }[] = [];
let running = 0;
let count = 0;

/** Sends files into the workspace and follows their jobs; without a workspace they wait for one. */
export function addFiles(files: readonly File[]): void {
  if (files.length === 0) return;
  const { opened, filesWaiting } = session.value;
  if (!opened) {
    session.set({
      filesWaiting: [...filesWaiting, ...files],
      said: `${say(files.length)} added when the workspace is open.`,
    });
    return;
  }
  const entries = files.map((source): FileEntry => {
    count += 1;
    const { name, size: bytes } = source;
    return { key: `${count}`, name, path: pathOf(source), bytes, state: 'waiting', progress: 0, source };
  });
  session.set({
    files: [...entries.toReversed(), ...session.value.files],
    said: `${say(files.length)} being added.`,
  });
  for (const { key, source } of entries) queue.push({ key, file: source!, opened });
  work();
}

/** Sends refused or failed files once more. */
export function retry(entries: readonly FileEntry[]): void {
  const { opened } = session.value;
  if (!opened) return;
  for (const { key, source } of entries) {
    if (!source) continue;
    change(key, { state: 'waiting', progress: 0, why: undefined, item: undefined });
    queue.push({ key, file: source, opened });
  }
  work();
}

/** Removes files from the list and, if they are uploaded, from the workspace. */
export async function remove(entries: readonly FileEntry[]): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  for (const { key, item, name } of entries) {
    const waits = queue.findIndex((queued) => queued.key === key);
    if (waits >= 0) queue.splice(waits, 1);
    try {
      if (item !== undefined) await workspaceOf(opened).remove(item.id);
      session.set({
        files: session.value.files.filter((file) => file.key !== key),
        said: `${name} is removed.`,
      });
    } catch (error) {
      if (error instanceof FarthingError && error.status === 404)
        session.set({ files: session.value.files.filter((file) => file.key !== key) });
      else session.set({ fault: `${name} could not be removed. ${faultOf(error)}` });
    }
  }
  await refreshUsage().catch(() => undefined);
}

function say(files: number): string {
  return files === 1 ? 'One file is' : `${files} files are`;
}

function work(): void {
  while (running < AT_ONCE && queue.length > 0) void lane();
}

async function lane(): Promise<void> {
  running += 1;
  try {
    for (let next = queue.shift(); next; next = queue.shift())
      if (session.value.opened?.id === next.opened.id) await ingest(next.key, next.file, next.opened);
  } finally {
    running -= 1;
  }
}

async function ingest(key: string, file: File, opened: OpenWorkspace): Promise<void> {
  change(key, { state: 'sending' });
  let stage = 'sending' as IngestProgress['stage'];
  const onProgress = (progress: IngestProgress) => {
    stage = progress.stage;
    const share =
      progress.stage === 'sending' ? progress.bytes / (progress.bytesTotal || 1) : progress.progress;
    change(key, { state: stage, progress: share });
  };
  try {
    const { item, duplicate } = await workspaceOf(opened).ingest(file, { onProgress });
    const state = duplicate ? 'duplicate' : item.state;
    change(key, { state, progress: 1, item });
    session.set({ said: `${file.name} is ${duplicate ? 'there already' : state}.` });
    await refreshUsage();
  } catch (error) {
    if (session.value.opened?.id !== opened.id) return;
    const isStage = error instanceof FarthingError && (stage === 'failed' || stage === 'cancelled');
    change(key, { state: isStage ? stage : 'refused', why: faultOf(error) });
    session.set({ said: `${file.name} was refused: ${faultOf(error)}` });
  }
}

function change(key: string, changes: Partial<FileEntry>): void {
  session.set({
    files: session.value.files.map((entry) => (entry.key === key ? { ...entry, ...changes } : entry)),
  });
}
