import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';

/** What `make` says on machines that lack something; each has stand-ins for the programs that the script asks. */

const root = resolve(import.meta.dirname, '../..');
const TOOLS = ['awk', 'cut', 'df', 'getconf', 'head', 'id', 'mkdir', 'rm', 'sed', 'sort', 'tr', 'uname'];
const WHOLE: Readonly<Record<string, string>> = {
  node: 'echo v22.23.3',
  npm: 'echo 10',
  cc: 'exit 0',
  cargo: 'echo cargo 1.95.0',
  rustc: 'echo "rustc 1.95.0 (x)"',
};
const NO_TOOLCHAIN = 'echo "error: rustup could not choose a version of rustc to run" >&2; exit 1';

/** Runs the script in a folder that has these programs alone. */
function check(folder: string, programs: Readonly<Record<string, string>>) {
  for (const part of ['bin', 'native', 'scripts']) mkdirSync(join(folder, part), { recursive: true });
  for (const file of ['scripts/prerequisites.sh', 'native/Cargo.toml'])
    copyFileSync(join(root, file), join(folder, file));
  for (const tool of TOOLS.filter((name) => !(name in programs))) {
    const path = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(path, join(folder, 'bin', tool));
  }
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  const env = { PATH: join(folder, 'bin') };
  return spawnSync('/bin/sh', ['scripts/prerequisites.sh'], { cwd: folder, env, encoding: 'utf8' });
}

t.test('what a machine lacks is told with its remedy, and where nothing lacks nothing is', async (t) => {
  for (const [lack, programs, remedy] of [
    ['nothing', WHOLE, undefined],
    ['a toolchain', { ...WHOLE, rustc: NO_TOOLCHAIN, cargo: NO_TOOLCHAIN }, 'rustup default stable'],
    ['a new Rust', { ...WHOLE, rustc: 'echo "rustc 1.63.0"' }, 'rustup update stable'],
    ['a new Node', { ...WHOLE, node: 'echo v18.19.0' }, 'nodejs.org'],
    ['room', { ...WHOLE, df: 'echo head; echo "/dev/x 9 8 100 99% /"' }, 'Make room'],
  ] as const) {
    const { status, stderr } = check(join(t.testdir({}), lack), programs);
    t.equal(status, remedy === undefined ? 0 : 1, lack);
    if (remedy === undefined) t.equal(stderr, '');
    else t.match(stderr, remedy, lack);
  }
});
