import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MODELS } from '../rig/embedded.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Opens models in ONNX Runtime as a server does, with threads, and ends. */
const PROGRAM = `
const { openEncoder } = await import(${JSON.stringify(join(ROOT, 'src/engine/encode/open-encoder.ts'))});
const encoder = await openEncoder({
  modelsFolder: ${JSON.stringify(MODELS)}, cacheFolder: process.env.HOME + '/cache', provider: 'cpu',
  queryWorkers: 1, ingestWorkers: 1, queryQueueMax: 4, ingestQueueMax: 4, log: () => {},
});
await encoder.close();
`;

t.test('ONNX Runtime keeps no identifier of the device and reports to nobody', async (t) => {
  const folder = t.testdir({ home: {}, 'program.mjs': PROGRAM });
  const home = join(folder, 'home');
  // It reports nothing where a variable says that this is continuous integration: the test would show nothing.
  const { CI: _, GITHUB_ACTIONS: __, ORT_DISABLE_TELEMETRY: ___, ...environment } = process.env;
  execFileSync(
    process.execPath,
    ['--no-warnings', '--import', join(ROOT, 'test/runner/stripped.js'), join(folder, 'program.mjs')],
    { cwd: ROOT, env: { ...environment, HOME: home, XDG_CACHE_HOME: join(home, 'xdg') } },
  );
  t.same(readdirSync(home), ['cache'], 'nothing but the cache that the server was given');
});
