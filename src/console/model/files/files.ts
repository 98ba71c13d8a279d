import { FarthingError, type IngestProgress } from '../../../client/index.ts';
import { workspaceOf } from '../client.ts';
import { type FileEntry, type OpenWorkspace, session } from '../session.ts';
import { faultOf, refreshUsage } from '../workspace/workspace.ts';

/** Uploads at a time. */
const AT_ONCE = 3;

const queue: { entry: FileEntry; file: File; opened: OpenWorkspace }[] = [];
let running = 0;
let count = 0;

/** Sends files into the workspace and follows their jobs. */
export function addFiles(files: readonly File[]): void {
  const { opened } = session.value;
  if (!opened || files.length === 0) return;
  const entries = files.map((file) => {
    count += 1;
    const entry: FileEntry = { key: count, name: file.name, bytes: file.size, state: 'waiting', progress: 0 };
    queue.push({ entry, file, opened });
    return entry;
  });
  session.set({
    files: [...entries.reverse(), ...session.value.files],
    said: `${files.length} ${files.length === 1 ? 'file is' : 'files are'} being added.`,
  });
  while (running < AT_ONCE && queue.length > 0) void lane();
}

async function lane(): Promise<void> {
  running += 1;
  try {
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (session.value.opened?.id === next.opened.id) await ingest(next.entry.key, next.file, next.opened);
    }
  } finally {
    running -= 1;
  }
}

async function ingest(key: number, file: File, opened: OpenWorkspace): Promise<void> {
  change(key, { state: 'sending' });
  let stage = 'sending' as IngestProgress['stage'];
  const onProgress = (progress: IngestProgress) => {
    stage = progress.stage;
    change(key, { state: stage, progress: progress.stage === 'sending' ? 0 : progress.progress });
  };
  try {
    const { item, duplicate } = await workspaceOf(opened).ingest(file, { onProgress });
    const state = duplicate ? 'duplicate' : item.state;
    change(key, { state, progress: 1, segments: item.segments });
    session.set({ said: `${file.name} is ${duplicate ? 'there already' : state}.` });
    await refreshUsage();
  } catch (error) {
    if (session.value.opened?.id !== opened.id) return;
    const isStage = error instanceof FarthingError && (stage === 'failed' || stage === 'cancelled');
    change(key, { state: isStage ? stage : 'refused', why: faultOf(error) });
    session.set({ said: `${file.name} was refused: ${faultOf(error)}` });
  }
}

function change(key: number, changes: Partial<FileEntry>): void {
  session.set({
    files: session.value.files.map((entry) => (entry.key === key ? { ...entry, ...changes } : entry)),
  });
}
