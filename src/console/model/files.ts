import { base, faultOf, refreshUsage } from './actions.ts';
import type { IngestAnswer, Job } from './answers.ts';
import { ask, ServerError } from './server.ts';
import { type FileEntry, type Opened, session } from './session.ts';

/** Uploads at a time. */
const AT_ONCE = 3;
const POLL_FIRST_MS = 150;
const POLL_MAX_MS = 1500;
const ENDED = ['searchable', 'failed', 'cancelled'];

const queue: { entry: FileEntry; file: File; opened: Opened }[] = [];
let running = 0;
let count = 0;

/** Sends files into the workspace and follows their jobs. */
export function addFiles(files: readonly File[]): void {
  const { opened } = session.value;
  if (!opened || files.length === 0) return;
  const entries = files.map((file): FileEntry => {
    count += 1;
    const entry = { key: count, name: file.name, bytes: file.size, state: 'waiting', progress: 0 };
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

async function ingest(key: number, file: File, opened: Opened): Promise<void> {
  change(key, { state: 'sending' });
  try {
    const form = new FormData();
    form.set('file', file, file.name);
    const { item, job, duplicate } = await ask<IngestAnswer>({
      method: 'POST',
      path: `${base(opened)}/ingest`,
      token: opened.token,
      form,
      note: file.name,
    });
    if (duplicate) return change(key, { state: 'duplicate', progress: 1, item, job });
    change(key, { state: job.state, progress: job.progress, item, job });
    await follow(key, job, opened);
  } catch (error) {
    change(key, { state: 'refused', why: faultOf(error) });
    session.set({ said: `${file.name} was refused: ${faultOf(error)}` });
  }
}

async function follow(key: number, first: Job, opened: Opened): Promise<void> {
  let job = first;
  for (let pause = POLL_FIRST_MS; !ENDED.includes(job.state); pause = Math.min(pause * 1.3, POLL_MAX_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (session.value.opened?.id !== opened.id) return;
    const path = `${base(opened)}/jobs/${job.id}`;
    job = await ask<Job>({ path, token: opened.token, quiet: true });
    change(key, { state: job.state, progress: job.progress, job, why: job.error?.detail });
  }
  const { name } = session.value.files.find((entry) => entry.key === key) ?? { name: 'A file' };
  session.set({ said: `${name} is ${job.state}.` });
  await refreshUsage().catch((error: unknown) => {
    if (!(error instanceof ServerError)) throw error;
  });
}

function change(key: number, changes: Partial<FileEntry>): void {
  session.set({
    files: session.value.files.map((entry) => (entry.key === key ? { ...entry, ...changes } : entry)),
  });
}
