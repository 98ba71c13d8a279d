import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import t from 'tap';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';

const root = resolve(import.meta.dirname, '../../../..');

/** Prints the modules of src/cluster that a server has loaded once it answers. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({
  load: (url, context, next) => {
    loaded.add(url);
    return next(url, context);
  },
});
const { start } = await import('${root}/src/bin/start.ts');
const { readConfig } = await import('${root}/src/server/settings/config.ts');
const running = await start(readConfig(process.env));
await running.stop();
console.log(JSON.stringify([...loaded].filter((url) => /aws4fetch|src\\/cluster/.test(url))));
process.exit(0);
`;

t.test('a server without a cluster loads nothing of it', async (t) => {
  const out = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', PROGRAM], {
    cwd: root,
    env: {
      ...BARE_ENVIRONMENT,
      FARTHING_PORT: '0',
      FARTHING_LOG_LEVEL: 'silent',
      FARTHING_DATA_DIR: join(t.testdir({}), 'data'),
      FARTHING_DEMO: '0',
    },
    encoding: 'utf8',
  });
  t.same(JSON.parse(out.trim().split('\n').at(-1)!), []);
});
