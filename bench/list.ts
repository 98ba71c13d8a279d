import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `make bench NAME=list`: the benches, each with the first comment of its program. */
for (const name of readdirSync(import.meta.dirname).sort()) {
  let program: string;
  try {
    program = readFileSync(join(import.meta.dirname, name, 'main.ts'), 'utf8');
  } catch {
    continue;
  }
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(program)?.[1] ?? '';
  console.log(
    `${name.padEnd(12)} ${comment
      .replace(/^\s*\*? ?/gm, ' ')
      .replace(/\s+/g, ' ')
      .trim()}`,
  );
}
