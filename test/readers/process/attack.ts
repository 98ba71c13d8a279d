/**
 * A reader that was taken over, for confine.test.ts. It loads its program and confines itself as the reader does, tries everything that a
 * reader must not be able to do, through decoders and system calls, and prints the outcomes.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeSync } from 'node:fs';
import {
  appendFile,
  chmod,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import sharp from 'sharp';
import { native } from '../../../src/native/index.ts';
import { EXTRACT_LIMITS } from '../../../src/protocol/document.ts';
import type { Prepare, Settings, Task } from '../../../src/readers/process/messages.ts';
import type { Output } from '../../../src/readers/reading/sink.ts';

const STDOUT = 1;
const WAIT_MS = 20_000;
const [program = '', inside = '', outside = '', port = '', parent = '', stage = ''] = process.argv.slice(2);

/** Each program of a reader, and what it is asked to do with a file; that for pictures of queries gets no path. */
const PROGRAMS: Readonly<
  Record<Settings['program'], readonly [() => Promise<{ prepare: Prepare }>, (folder: string) => Task]>
> = {
  reader: [
    () => import('../../../src/readers/reader.ts'),
    (folder) => ({ task: 'open', path: `${folder}/picture.png`, headersOnly: true }),
  ],
  queries: [
    () => import('../../../src/readers/picture/query-reader.ts'),
    () => ({ task: 'picture', headerOnly: true }),
  ],
  recogniser: [
    () => import('../../../src/readers/ocr/recogniser.ts'),
    (folder) => ({ task: 'recognise', path: `${folder}/picture.png`, mediaType: 'image/png', page: 1 }),
  ],
  media: [
    () => import('../../../src/readers/media/media.ts'),
    (folder) => ({ task: 'open-recording', path: `${folder}/sound.wav`, mediaType: 'audio/wav' }),
  ],
};

if (stage !== 'confined') {
  native.forbidRings(STDOUT);
  const file = fileURLToPath(import.meta.url);
  process.execve?.(
    process.execPath,
    [process.execPath, ...process.execArgv, file, program, inside, outside, port, parent, 'confined'],
    {},
  );
}

// As in the reader, threads exist and decoders are loaded before it is confined.
const [load, taskIn] = PROGRAMS[program as Settings['program']];
const prepared = await (await load()).prepare({
  program: program as Settings['program'],
  languages: ['auto'],
  pictureSpec: undefined,
  limits: EXTRACT_LIMITS,
  scratch: inside,
  niceness: 0,
});
await sharp(`${inside}/picture.png`).stats();
const picture = await readFile(`${inside}/picture.png`);
const confinement = native.confine({ readable: [inside], memoryBytes: 2 ** 30 });
await prepared.tryOut();

const nothing = async () => undefined;
const output = new Proxy({}, { get: () => nothing }) as Output;
const perform = (folder: string) =>
  prepared.perform(taskIn(folder), Buffer.from(program === 'queries' ? picture : []), output);

const TRIES: Record<string, () => Promise<unknown>> = {
  'its program reads a file that is meant for it': () => perform(inside),
  ...(program !== 'queries' && { 'its program reads another file': () => perform(outside) }),
  'a decoder reads a file that is meant for it': () => sharp(`${inside}/picture.png`).stats(),
  'a decoder reads another file': () => sharp(`${outside}/picture.png`).stats(),
  'a decoder writes a file': () => sharp(`${inside}/picture.png`).toFile(`${inside}/written.png`),
  'a file outside is read': () => readFile('/etc/passwd'),
  'the environment of another process is read': () => readFile(`/proc/${parent}/environ`),
  'a folder is listed': () => readdir(inside),
  'a file is changed': () => writeFile(`${inside}/picture.png`, 'changed'),
  'a mode is changed': () => chmod(`${outside}/picture.png`, 0o777),
  'the memory of this process is written past its protection': () => open('/proc/self/mem', 'r+'),
  'the memory of another process is read': () => open(`/proc/${parent}/mem`, 'r'),
  'a link is followed out': () => readlink(`/proc/${parent}/exe`),
  'a name is linked': () => link(`${outside}/picture.png`, `${inside}/linked.png`),
  'a symbolic link is made': () => symlink('/etc/passwd', `${inside}/passwd`),
  'a folder is made': () => mkdir(`${inside}/made`),
  'a file is renamed': () => rename(`${inside}/picture.png`, `${inside}/renamed.png`),
  'a file is removed': () => rm(`${inside}/picture.png`),
  'a file is cut short': () => truncate(`${inside}/picture.png`, 1),
  'a file is appended to': () => appendFile(`${outside}/picture.png`, 'x'),
  'times are changed': () => utimes(`${inside}/picture.png`, 0, 0),
  'a library is loaded': async () =>
    process.dlopen({ exports: {} }, `${outside}/picture.png`.replace(/[^/]+$/, 'library.node')),
  'a thread reads a file outside': () =>
    new Promise((resolve, reject) =>
      new Worker("require('node:fs').readFileSync('/etc/passwd')", { eval: true })
        .on('error', reject)
        .on('exit', (code) => (code === 0 ? resolve(0) : reject(new Error(String(code))))),
    ),
  'the user is changed': async () => process.setuid?.(process.getuid?.() === 0 ? 1 : 0),
  'a socket of this host is opened': () =>
    new Promise((resolve, reject) => connect(`${outside}/socket`, () => resolve(0)).on('error', reject)),
  'a connection is made': () =>
    new Promise((resolve, reject) =>
      connect(Number(port), '127.0.0.1', () => resolve(0)).on('error', reject),
    ),
  'a datagram is sent': () =>
    new Promise((resolve, reject) =>
      createSocket('udp4')
        .on('error', reject)
        .send('x', Number(port), '127.0.0.1', (error) => (error ? reject(error) : resolve(0))),
    ),
  'a server listens': () =>
    new Promise((resolve, reject) =>
      createServer()
        .on('error', reject)
        .listen(0, '127.0.0.1', () => resolve(0)),
    ),
  'a program runs': () =>
    new Promise((resolve, reject) =>
      spawn('/bin/true')
        .on('error', reject)
        .on('spawn', () => resolve(0)),
    ),
  'another process gets a signal': async () => process.kill(Number(parent), 'SIGWINCH'),
  'another process is slowed': async () => setPriority(Number(parent), 19),
};

/** A thread that may not load anything never answers. */
const waited = () => new Promise((_, reject) => setTimeout(reject, WAIT_MS));

const outcomes: Record<string, boolean> = {};
for (const [name, attempt] of Object.entries(TRIES)) {
  outcomes[name] = await Promise.race([attempt(), waited()]).then(
    () => true,
    () => false,
  );
}
writeSync(STDOUT, JSON.stringify({ confinement, outcomes }));
process.exit(0);
