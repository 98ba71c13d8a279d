import type { Item } from '@farthing/client';
import { workspaceOf } from '../server/client.ts';
import type { FileEntry } from '../state/entry.ts';
import { session } from '../state/session.ts';

const PAGE = 200;
/** More are counted, not listed: a person filters or searches. */
const LISTED_MAX = 2000;
const POLL_MS = 2_000;

/** Reads which files the workspace has, and follows those that are still being read. */
export async function listFiles(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await workspaceOf(opened).items({ limit: PAGE, after });
    items.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined && items.length < LISTED_MAX);
  if (session.value.opened?.id !== opened.id) return;
  const { files, usage } = session.value;
  const known = new Set(files.map(({ item }) => item?.id));
  const listed = items.toReversed().filter(({ id }) => !known.has(id));
  session.set({
    files: [...files, ...listed.map(entryOf)],
    filesUnlisted: after === undefined ? 0 : Math.max(0, (usage?.items ?? 0) - items.length),
  });
  void followPending(opened.id);
}

function entryOf(item: Item): FileEntry {
  const { id: key, name, path, bytes, state, error } = item;
  const why = error?.detail ?? (state === 'failed' ? 'It could not be read.' : undefined);
  return { key, item, name, path, bytes, state, progress: state === 'searchable' ? 1 : 0, why };
}

/** An earlier visit sent them: this page has no job to follow, so it asks for the items. */
async function followPending(workspace: string): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const { opened, files } = session.value;
    const pending = files.filter(({ state, source }) => state === 'pending' && !source);
    if (opened?.id !== workspace || pending.length === 0) return;
    for (const { item } of pending.slice(-PAGE)) {
      const now = await workspaceOf(opened)
        .item(item!.id)
        .catch(() => undefined);
      if (now && now.state !== 'pending') replace(entryOf(now));
    }
  }
}

function replace(entry: FileEntry): void {
  session.set({ files: session.value.files.map((file) => (file.key === entry.key ? entry : file)) });
}
