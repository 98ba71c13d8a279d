import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { builtServer } from '../../scripts/built-server.ts';
import { CACHE_DIR } from '../test-server.ts';

const taken = createServer().listen(0, '127.0.0.1');
await once(taken, 'listening');
const { port } = taken.address() as AddressInfo;
t.teardown(() => taken.close());

for (const [refused, named, environment] of [
  ['a port that another process has', 'PORT', { PORT: String(port) }],
  ["an address that is not this machine's", 'PORT', { HOST: '192.0.2.1', PORT: '0' }],
  [
    "a port of the operator's page that another process has",
    'ADMIN_PORT',
    { PORT: '0', ADMIN_PORT: String(port) },
  ],
] as const) {
  t.test(
    `a start with ${refused} names the setting and ends with 2, though workers still open models`,
    async (t) => {
      const child = spawn(process.execPath, [builtServer()], {
        env: {
          PATH: process.env.PATH,
          DEMO: '0',
          DATA_DIR: join(t.testdir({}), 'data'),
          CACHE_DIR,
          INGEST_WORKERS: '8',
          LOG_LEVEL: 'fatal',
          ...environment,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      t.teardown(() => child.kill('SIGKILL'));
      const [said, [status, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      t.match(said, new RegExp(`^Farthing does not start:\\n  ${named}: cannot listen on [^\\n]+\\n$`));
      t.strictSame([status, signal], [2, null]);
    },
  );
}
