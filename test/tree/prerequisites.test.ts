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

const home = t.testdir({});
let machines = 0;

/** Runs the script on a machine with these programs alone. */
function check(programs: Readonly<Record<string, string | undefined>>) {
  const folder = join(home, String(machines++));
  for (const part of ['bin', 'native', 'scripts']) mkdirSync(join(folder, part), { recursive: true });
  copyFileSync(join(root, 'scripts/prerequisites.sh'), join(folder, 'scripts/prerequisites.sh'));
  copyFileSync(join(root, 'native/Cargo.toml'), join(folder, 'native/Cargo.toml'));
  for (const tool of TOOLS.filter((name) => !(name in programs))) {
    const path = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(path, join(folder, 'bin', tool));
  }
  for (const [name, script] of Object.entries(programs)) {
    if (script === undefined) continue;
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  const { status, stderr } = spawnSync('/bin/sh', ['scripts/prerequisites.sh'], {
    cwd: folder,
    env: { PATH: join(folder, 'bin') },
    encoding: 'utf8',
  });
  return { status, said: stderr.trim().split('\n') };
}

t.test('a machine that has everything is told nothing', async (t) => {
  t.same(check(WHOLE), { status: 0, said: [''] });
});

for (const [lack, programs, what, remedy] of [
  [
    'a toolchain of rustup',
    { rustc: NO_TOOLCHAIN, cargo: NO_TOOLCHAIN },
    /without a toolchain/,
    'rustup default stable',
  ],
  ['a new Rust', { rustc: 'echo "rustc 1.63.0"' }, /^Rust 1\.63\.0 is too old/, 'rustup update stable'],
  ['Rust', { rustc: undefined, cargo: undefined }, /^Rust .* is missing/, 'rustup.rs'],
  ['npm', { npm: undefined }, /^npm is missing/, 'npm'],
  ['a new Node', { node: 'echo v18.19.0' }, /^Node\.js v18\.19\.0 is too old/, 'nodejs.org'],
  ['a C compiler', { cc: undefined }, /^A C compiler is missing/, 'build-essential'],
  [
    'room on the disk',
    { df: 'echo head; echo "/dev/x 9 8 100 99% /"' },
    /^The disk has 100 MiB free/,
    'Make room',
  ],
] as const)
  t.test(`a machine without ${lack} is told so in one line, with its remedy in the next`, async (t) => {
    const stands = Object.keys(programs);
    const { status, said } = check({ ...WHOLE, ...programs });
    t.equal(status, 1, stands.join());
    t.equal(said.length, 2, said.join('\n'));
    t.match(said[0], what);
    t.ok(said[1]!.includes(remedy), String(said[1]));
  });

for (const [crates, status, also] of [
  ['are here', 0, false],
  ['are not', 101, true],
] as const)
  t.test(`a native part that does not compile where its crates ${crates}`, async (t) => {
    const folder = t.testdir({
      bin: { cargo: `#!/bin/sh\n[ "$1" = tree ] && exit ${status}\necho "error[E0425]" >&2; exit 101\n` },
      native: {},
      '.build': { prerequisites: '' },
    });
    chmodSync(join(folder, 'bin/cargo'), 0o755);
    copyFileSync(join(root, 'Makefile'), join(folder, 'Makefile'));
    const made = spawnSync('make', ['--assume-old', '.build/prerequisites', 'native/target/crates'], {
      cwd: folder,
      // The Makefile puts folders of its own before this one: HOME has no cargo.
      env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder },
      encoding: 'utf8',
    });
    t.equal(made.status, 2);
    t.match(made.stderr, /error\[E0425\]\n.*could not be built: cargo says why above\.\n/);
    t.equal(/without a network/.test(made.stderr), also);
  });
