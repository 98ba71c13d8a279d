import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
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

for (const program of ['reader', 'queries', 'recogniser', 'media'])
  t.test(
    `a reader that was taken over (${program}) reads its own file and can do nothing else`,
    async (t) => {
      const folder = t.testdir();
      const [inside, outside] = ['inside', 'outside'].map((name) => join(folder, name)) as [string, string];
      for (const place of [inside, outside]) {
        mkdirSync(place);
        copyFileSync('samples/chelsea.png', join(place, 'picture.png'));
        writeFileSync(join(place, 'sound.wav'), silence());
      }
      copyFileSync('src/native/addon/farthing.linux-x64-gnu.node', join(outside, 'library.node'));
      const before = statSync(join(outside, 'picture.png'));
      let connections = 0;
      const count = (socket: Socket) => {
        connections++;
        socket.destroy();
      };
      const { port } = await listening(t, createServer(count));
      const local = createServer(count).listen(join(outside, 'socket'));
      t.teardown(() => local.close());
      const printed = await new Promise<string>((resolve, reject) => {
        const args = [...FLAGS, ATTACK, program, inside, outside, String(port), String(process.pid)];
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
      t.same(readdirSync(inside).toSorted(), ['picture.png', 'sound.wav']);
      t.same(readFileSync(join(inside, 'picture.png')), readFileSync('samples/chelsea.png'));
      const { mode, mtimeMs } = statSync(join(outside, 'picture.png'));
      t.same({ mode, mtimeMs }, { mode: before.mode, mtimeMs: before.mtimeMs });
    },
  );

/** A tenth of a second at 8 kHz. */
function silence(): Buffer {
  const head = Buffer.from(
    'RIFF\x44\x03\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x20\x03\0\0',
    'latin1',
  );
  return Buffer.concat([head, Buffer.alloc(800, 0x80)]);
}

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
