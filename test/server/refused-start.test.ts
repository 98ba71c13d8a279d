import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { listening } from '../rig/ports.ts';
import { spawnBuilt } from './built-process.ts';

const { port } = await listening(t, createServer());

for (const [refused, named, environment] of [
  ['a port that another process has', 'FARTHING_HOST, FARTHING_PORT', { PORT: String(port) }],
  ["an address that is not this machine's", 'FARTHING_HOST, FARTHING_PORT', { HOST: '192.0.2.1' }],
  [
    "a port of the operator's page that another process has",
    'FARTHING_ADMIN_PORT',
    { ADMIN_PORT: String(port) },
  ],
] as const) {
  t.test(`a start with ${refused} names the settings and ends with 2`, async (t) => {
    const { child, ended } = spawnBuilt(
      t,
      { DEMO: '0', INGEST_WORKERS: '8', LOG_LEVEL: 'fatal', ...environment },
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const [said, [status, signal]] = await Promise.all([text(child.stderr!), ended]);
    t.match(said, new RegExp(`^Farthing does not start:\\n  ${named}: cannot listen on [^\\n]+\\n$`));
    t.strictSame([status, signal], [2, null]);
  });
}

for (const setting of ['DATA_DIR', 'CACHE_DIR']) {
  t.test(`a start whose ${setting} lies where no folder can be made says so, and ends with 2`, async (t) => {
    const path = '/proc/farthing/data';
    const { child, ended } = spawnBuilt(
      t,
      { DEMO: '0', LOG_LEVEL: 'fatal', [setting]: path },
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const [said, [status, signal]] = await Promise.all([text(child.stderr!), ended]);
    t.equal(
      said,
      `Farthing does not start:\n  FARTHING_${setting}=${path}: no folder can be made there; set another one\n`,
    );
    t.strictSame([status, signal], [2, null]);
  });
}

t.test('a start with a language of scans whose package is not here says so, and ends with 2', async (t) => {
  const { child, ended } = spawnBuilt(
    t,
    { DEMO: '0', LOG_LEVEL: 'fatal', OCR_LANGUAGES: 'eng,tlh' },
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [said, [status, signal]] = await Promise.all([text(child.stderr!), ended]);
  t.match(
    said,
    /^Farthing does not start:\n {2}FARTHING_OCR_LANGUAGES: install @tesseract\.js-data\/tlh with npm/,
  );
  t.strictSame([status, signal], [2, null]);
});
