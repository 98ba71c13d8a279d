import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { docBlocks } from '../client/doc-blocks.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { outputOf } from '../rig/run-program.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { startTestServer } from '../rig/test-server.ts';
import { emptyFolder, install, typeFaults } from './packed.ts';

/** `farthing-client` as an agent has it: no tree and no server in its folder. */

t.setTimeout(300_000);
const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

t.test('the packed client rents, ingests, finds and destroys what its own page says', async (t) => {
  const { url } = await startTestServer(t);
  const packages = temporaryFolder(t);
  await run(process.execPath, ['--no-warnings', join(root, 'scripts/package-client.ts'), packages]);
  const folder = emptyFolder(t);
  await install(
    folder,
    readdirSync(packages).map((name) => join(packages, name)),
  );
  t.notOk(existsSync(join(folder, 'node_modules/farthing')), 'no server');
  t.notOk(existsSync(join(folder, 'node_modules/onnxruntime-node')), 'no models');

  await copyFile(join(root, 'samples/almanac.pdf'), join(folder, 'almanac.pdf'));
  await writeFile(join(folder, 'agent.mts'), docBlocks('../clients/typescript/README.md', 'ts', url)[0]!);
  const env = { ...BARE_ENVIRONMENT, HOME: folder };
  const said = await outputOf(process.execPath, ['agent.mts'], { cwd: folder, env });
  t.match(said, /^almanac\.pdf, page \d+$/m);
  t.match(said, /^deleted \{ spentUsd: '0\.\d+', heldUsd: '0', leftUsd: '0\.\d+' \}$/m);
  t.equal(await typeFaults(folder, 'agent.mts', []), '');
});
