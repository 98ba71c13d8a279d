import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';
import { pythonProgram, pythonWith } from '../../../rig/python.ts';
import { outputOf, runProgram } from '../../../rig/run-program.ts';
import { startTestServer } from '../../../rig/test-server.ts';

/** The client that openapi-python-client makes of the description pays, rents, uploads, searches, and reads every error. */

const { python, absent } = pythonWith('openapi_python_client', 'x402', 'httpx', 'eth_account');

t.test('the Python client made of the description', { skip: absent }, async (t) => {
  const folder = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
  const description = join(folder, 'openapi.json');
  await writeFile(description, await (await fetch(`${server.url}/openapi.json`)).text());
  const generator = pythonProgram('openapi-python-client');
  const options = ['--path', description, '--output-path', join(folder, 'generated'), '--meta', 'none'];
  const { status, output } = await runProgram(generator, ['generate', ...options], {
    cwd: folder,
    env: { ...BARE_ENVIRONMENT, HOME: folder, PYTHONUTF8: '1' },
  });
  t.equal(status, 0, output);
  const unread = [...output.matchAll(/^(?:WARNING|ERROR) parsing (.+)$/gm)].map(([, what]) => what);
  t.same(
    unread.filter((what) => !/\/(content|preview|export) within/.test(what!)),
    [],
    'it makes every operation; of the answers it leaves out only files, pictures and exports',
  );

  const script = join(import.meta.dirname, 'python/generated_client.py');
  const out = await outputOf(python, [script, server.url], {
    env: { ...BARE_ENVIRONMENT, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
  t.same(JSON.parse(out), {
    quoted: 'exact',
    state: 'searchable',
    found: [true, 'log.txt', 'text_semantic'],
    item: ['log.txt', 'text/plain'],
    problems: ['field_invalid', 'media_type_unsupported', 'item_not_found', 'workspace_unauthorized'],
    inside: ['searchable', 'log.txt', ['log.txt']],
    usage: ['active', 1],
    ended: ['disposed', 2],
  });
});
