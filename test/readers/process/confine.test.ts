import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { listening } from '../../rig/ports.ts';

const ATTACK = fileURLToPath(new URL('./attack.ts', import.meta.url));
const FLAGS = ['--disable-sigusr1', '--disable-warning=ExperimentalWarning'];

interface Report {
  readonly confinement: Record<string, string>;
  readonly outcomes: Record<string, boolean>;
}

t.test('a reader that was taken over reads its own file and can do nothing else', async (t) => {
  const folder = t.testdir();
  const [inside, outside] = ['inside', 'outside'].map((name) => join(folder, name)) as [string, string];
  for (const place of [inside, outside]) {
    mkdirSync(place);
    copyFileSync('samples/chelsea.png', join(place, 'picture.png'));
  }
  const before = statSync(join(outside, 'picture.png')).mode;
  let connections = 0;
  const trap = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const { port } = await listening(t, trap);
  const printed = await new Promise<string>((resolve, reject) => {
    const args = [...FLAGS, ATTACK, inside, outside, String(port), String(process.pid)];
    execFile(process.execPath, args, { env: {} }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    );
  });
  const { confinement, outcomes } = JSON.parse(printed) as Report;
  const lacking = Object.entries(confinement).filter(([, state]) => state.startsWith('unavailable'));
  if (lacking.length > 0) {
    t.comment(`this kernel lacks protections: ${JSON.stringify(lacking)}`);
    return;
  }
  t.same(confinement, {
    noNewPrivileges: 'enforced',
    landlock: 'enforced',
    seccomp: 'enforced',
    memoryLimit: 'enforced',
  });
  for (const [attempt, succeeded] of Object.entries(outcomes))
    t.equal(succeeded, attempt.endsWith('meant for it'), attempt);
  t.equal(connections, 0);
  t.notOk(existsSync(join(inside, 'written.png')));
  t.same(readFileSync(join(inside, 'picture.png')), readFileSync('samples/chelsea.png'));
  t.equal(statSync(join(outside, 'picture.png')).mode, before);
});

t.test('a process whose event loop has an io_uring is not confined, and learns why', async (t) => {
  const script = `
    const { native } = await import('./src/native/index.ts');
    const { readdirSync, readlinkSync, readFileSync } = await import('node:fs');
    const targets = readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } });
    let refusal = '';
    if (targets.includes('anon_inode:[io_uring]'))
      try { native.confine({ readable: [], memoryBytes: 2 ** 30 }); } catch (error) { refusal = error.message; }
    else refusal = 'no ring';
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log(readFileSync('/etc/hostname').length > 0, refusal);
  `;
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script];
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, args, { env: { UV_USE_IO_URING: '1' } }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  if (printed.includes('no ring')) return t.comment('this Node or kernel makes no ring: nothing to prove');
  t.match(printed, /^true .*io_uring/);
});
