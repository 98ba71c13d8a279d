import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { docBlocks } from '../client/doc-blocks.ts';
import { onlyDeep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { outputOf } from '../rig/run-program.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { startTestServer } from '../rig/test-server.ts';
import { emptyFolder, install, typeFaults } from './packed.ts';

/** `farthing-client` as an agent has it: no tree and no server in its folder. */

t.setTimeout(300_000);
const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

t.test(
  'the packed client rents, ingests, finds and destroys what its own page says',
  { skip: onlyDeep },
  async (t) => {
    const { url } = await startTestServer(t);
    const packages = temporaryFolder(t);
    await run(process.execPath, ['--no-warnings', join(root, 'scripts/package-client.ts'), packages]);
    const folder = emptyFolder(t);
    await install(
      folder,
      readdirSync(packages).map((name) => join(packages, name)),
    );
    const modules = join(folder, 'node_modules');
    t.same(
      readdirSync(modules).filter((name) => !name.startsWith('.')),
      ['farthing-client'],
      'nothing comes with it',
    );
    const notices = readFileSync(join(modules, 'farthing-client/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const part of ['viem', 'jose', '@x402/evm'])
      t.match(notices, new RegExp(`^${part} [\\d.]+ \\(`, 'm'), 'whose code is inside is named');
    // What makes the account is the agent's own.
    await install(folder, [`viem@${devDependencies.viem}`]);

    await copyFile(join(root, 'samples/almanac.pdf'), join(folder, 'almanac.pdf'));
    await writeFile(join(folder, 'agent.mts'), docBlocks('../clients/typescript/README.md', 'ts', url)[0]!);
    const env = { ...BARE_ENVIRONMENT, HOME: folder };
    const said = await outputOf(process.execPath, ['agent.mts'], { cwd: folder, env });
    t.match(said, /^almanac\.pdf, page \d+$/m);
    t.match(said, /^deleted \{ spentUsd: '0\.\d+', heldUsd: '0', leftUsd: '0\.\d+' \}$/m);
    t.equal(await typeFaults(folder, 'agent.mts', []), '');
  },
);
