import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Teardown, temporaryFolder } from '../rig/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Outside the tree: below it, Node and TypeScript would find the tree's own packages. */
export function emptyFolder(t: Teardown): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  return folder;
}

export async function install(
  folder: string,
  packages: readonly string[],
  options: readonly string[] = [],
): Promise<void> {
  const words = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...options, ...packages];
  await run('npm', words, { cwd: folder });
}

/** What a strict compiler says of a program and of all declarations that it uses. @param types global ones */
export async function typeFaults(folder: string, file: string, types: readonly string[]): Promise<string> {
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', types };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return run(process.execPath, [compiler, '-p', folder]).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}
