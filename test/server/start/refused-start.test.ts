import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { listening } from '../../rig/ports.ts';
import { spawnBuilt } from './built-process.ts';

const { port } = await listening(t, createServer());
const PATH = '/proc/farthing/data';

/** Settings that cannot be served, and what is said of them. */
const REFUSED: Readonly<Record<string, [environment: Record<string, string>, said: string]>> = {
  'a port that another process has': [
    { PORT: String(port) },
    'FARTHING_HOST, FARTHING_PORT: cannot listen on [^\\n]+\n$',
  ],
  "a port of the operator's page that another process has": [
    { ADMIN_PORT: String(port) },
    'FARTHING_ADMIN_PORT: cannot listen on [^\\n]+\n$',
  ],
  'a data folder that cannot be made': [
    { DATA_DIR: PATH },
    `FARTHING_DATA_DIR=${PATH}: no folder can be made there; set another one\n$`,
  ],
  'a language of scans whose package is not here': [
    { OCR_LANGUAGES: 'eng,tlh' },
    'FARTHING_OCR_LANGUAGES: install @tesseract\\.js-data/tlh with npm',
  ],
};

for (const [refused, [environment, said]] of Object.entries(REFUSED))
  t.test(`a start with ${refused} names the setting and ends with 2`, async (t) => {
    const { child, ended } = spawnBuilt(
      t,
      { DEMO: '0', INGEST_WORKERS: '8', LOG_LEVEL: 'fatal', ...environment },
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const [written, [status, signal]] = await Promise.all([text(child.stderr!), ended]);
    t.match(written, new RegExp(`^Farthing does not start:\\n  ${said}`));
    t.strictSame([status, signal], [2, null]);
  });
