import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What `make python` installs, with the pins of `scripts/python-pins.txt`. */
const OWN = resolve(import.meta.dirname, '../../.build/python/bin');

/** The tree's own Python or the system's, whichever has the modules; `absent` says why a test does not run. */
export function pythonWith(...modules: readonly string[]): {
  readonly python: string;
  readonly absent: string | false;
} {
  const candidates = [join(OWN, 'python3'), 'python3'];
  const program = `import ${modules.join(', ')}`;
  const python = candidates.find((path) => spawnSync(path, ['-c', program]).status === 0);
  const absent = python ? false : `no python3 with ${modules.join(', ')}: make python installs them`;
  return { python: python ?? '', absent };
}

/** A program that a package brought; its name alone where it is not there. */
export function pythonProgram(name: string): string {
  const own = join(OWN, name);
  return existsSync(own) ? own : name;
}
