/**
 * A reader that was taken over, for confine.test.ts. It confines itself as the reader does, tries everything that a reader
 * must not be able to do, through decoders and system calls, and prints the outcomes.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { native } from '../../../src/native/index.ts';

const STDOUT = 1;
const [inside = '', outside = '', port = '', parent = '', stage = ''] = process.argv.slice(2);

if (stage !== 'confined') {
  native.forbidRings(STDOUT);
  const file = fileURLToPath(import.meta.url);
  process.execve?.(
    process.execPath,
    [process.execPath, ...process.execArgv, file, inside, outside, port, parent, 'confined'],
    {},
  );
}

// As in the reader, threads exist and decoders are loaded before it is confined.
await sharp(`${inside}/picture.png`).stats();
const confinement = native.confine({ readable: [inside], memoryBytes: 2 ** 30 });

const TRIES: Record<string, () => Promise<unknown>> = {
  'a decoder reads a file that is meant for it': () => sharp(`${inside}/picture.png`).stats(),
  'a decoder reads another file': () => sharp(`${outside}/picture.png`).stats(),
  'a decoder writes a file': () => sharp(`${inside}/picture.png`).toFile(`${inside}/written.png`),
  'a file outside is read': () => readFile('/etc/passwd'),
  'the environment of another process is read': () => readFile(`/proc/${parent}/environ`),
  'a folder is listed': () => readdir(inside),
  'a file is changed': () => writeFile(`${inside}/picture.png`, 'changed'),
  'a mode is changed': () => chmod(`${outside}/picture.png`, 0o777),
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

const outcomes: Record<string, boolean> = {};
for (const [name, attempt] of Object.entries(TRIES)) {
  outcomes[name] = await attempt().then(
    () => true,
    () => false,
  );
}
writeSync(STDOUT, JSON.stringify({ confinement, outcomes }));
process.exit(0);
