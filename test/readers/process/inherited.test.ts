import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { testExtractor } from '../../rig/readers.ts';
import { children } from './children.ts';

/** Files that a process has open; none of a process that has ended. */
function openFiles(pid: string | number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

t.test('processes that read strangers’ files hold none of the server’s', async (t) => {
  const books = open({ path: join(t.testdir({}), 'data.mdb') });
  t.teardown(() => books.close());
  const { extractor } = testExtractor(t);
  await extractor.warm();
  t.ok(
    openFiles('self').some((path) => path.endsWith('data.mdb')),
    'the server has its files open',
  );
  const held = children().flatMap(openFiles);
  t.ok(held.length > 0, 'there are such processes');
  t.same(
    held.filter((path) => /\.mdb|\(deleted\)/.test(path)),
    [],
  );
});
