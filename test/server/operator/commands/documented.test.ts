import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { docBlocks } from '../../../client/doc-blocks.ts';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';
import { lacksProgram, outputOf } from '../../../rig/run-program.ts';

/** The operator's pages (backup.md, operating.md, get-paid.md, cluster.md): their commands, but for paths, do what they say. */

t.setTimeout(300_000);
const root = resolve(import.meta.dirname, '../../../..');
/** `npx` would look for the command in the tree; so does this, without npm's start. */
const NPX = `npx() { shift; node ${join(root, 'src/bin/farthing.js')} "$@"; }\n`;

function shell(
  script: string,
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...BARE_ENVIRONMENT, PATH: process.env.PATH, HOME: cwd, ...environment };
  return outputOf('bash', ['-euc', NPX + script], { cwd, env });
}

t.test(
  'get-paid.md and cluster.md: the settings of each block are taken as they stand',
  { skip: lacksProgram('openssl') },
  async (t) => {
    const pages = ['get-paid.md', 'cluster.md'] as const;
    for (const page of pages) {
      const blocks = docBlocks(page, 'sh', '').filter((block) => /^export /m.test(block));
      t.ok(blocks.length >= 1, page);
      for (const [index, block] of blocks.entries()) {
        const folder = t.testdir({});
        const etc = join(folder, 'etc');
        mkdirSync(etc, { recursive: true });
        for (const name of ['etcd.password', 'etcd-ca.pem', 'objects.secret', 'payai.key'])
          writeFileSync(join(etc, name), 'a secret\n', { mode: 0o600 });
        const script = block
          .replaceAll('/etc/farthing', etc)
          .replace('0x…', `0x${'1'.repeat(40)}`)
          .replaceAll('=… ', '=id ')
          // Commands that start a server or query others have their own tests.
          .replaceAll(/^(?:make run|npx farthing .*)$/gm, '');
        const set = await shell(`${script}\nenv`, folder);
        const environment = Object.fromEntries(
          set.split('\n').flatMap((line) => {
            const [, name, value] = /^(FARTHING_\w+)=(.*)$/.exec(line) ?? [];
            return name === undefined ? [] : [[name, value!]];
          }),
        );
        t.ok(Object.keys(environment).length >= 1, `${page} ${index}`);
        const paid = { FARTHING_PAY_TO: `0x${'1'.repeat(40)}`, ...environment };
        t.doesNotThrow(() => readConfig(paid), `${page} ${index}`);
      }
    }
  },
);
