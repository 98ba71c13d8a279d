import { ConfigError } from '@farthing/server/settings/config';
import type { Store } from '@farthing/server/state/store';

const KEY = 'objects';
const PLACE = 'content_place';
/** Those of `ContentRows`, and the mark, which comes last. */
const TABLES = ['content', 'content_items', 'content_files', 'content_keys', PLACE];
const ROWS_AT_ONCE = 500;

/** Marks a store whose Tenants' content lies in objects. @throws ConfigError for a store that was begun without them */
export async function claimBooks(store: Store): Promise<void> {
  if (marksOf(store).get(KEY)) return;
  if (store.table('jobs').count() > 0 || store.table('workspaces').count() > 0)
    throw new ConfigError(
      'FARTHING_OBJECTS: these books were begun without it, and their files lie on a disk; take another name in FARTHING_CLUSTER and import the folder (farthing admin cluster import), or leave it out',
    );
  await markBooks(store);
}

/** Marks a store whose Tenants' content is being moved into objects. */
export async function markBooks(store: Store): Promise<void> {
  await marksOf(store).put(KEY, { since: Date.now() });
}

/** @throws ConfigError for a store whose content lies in objects, where no object store is configured */
export function refuseWithoutObjects(store: Store): void {
  if (marksOf(store).get(KEY))
    throw new ConfigError('FARTHING_OBJECTS: the files of these books lie in objects; name where');
}

/** Removes the references to objects from a copy of a store with all files and indexes beside it. */
export async function forgetObjects(store: Store): Promise<void> {
  for (const name of TABLES) {
    const table = store.table(name);
    for (;;) {
      const keys = [...table.range({ limit: ROWS_AT_ONCE })].map(({ key }) => key);
      if (keys.length === 0) break;
      await store.transaction(() => {
        for (const key of keys) void table.remove(key);
      });
    }
  }
}

function marksOf(store: Store) {
  return store.table<{ readonly since: number }>(PLACE);
}
