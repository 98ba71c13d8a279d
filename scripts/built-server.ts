import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const CONSOLE = join(root, 'src/console');

/** Path of the built server program. @throws when it was not built, or before a source was changed: what ran would be something else */
export function builtServer(): string {
  const program = join(root, '.build/server/main.js');
  const built = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/(?<!\.d)\.ts$/.test(path) || path.startsWith(CONSOLE)) continue;
    if (statSync(path).mtimeMs > built)
      throw new Error(`${path} is newer than ${program}: run "make server"`);
  }
  return program;
}
