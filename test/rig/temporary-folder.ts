import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What rigs need of a test. */
export interface Teardown {
  teardown(release: () => unknown): void;
}

/** A new folder that is removed when the test is over, after what was opened in it later has been closed. */
export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
