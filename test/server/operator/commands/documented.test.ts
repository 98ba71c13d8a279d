import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { docBlocks } from '../../../client/doc-blocks.ts';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';
import { lacksProgram, outputOf } from '../../../rig/run-program.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** What the operator's pages say, copied literally but for its places, does what they say: backup.md, operating.md, get-paid.md, cluster.md. */

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

/** What commands of operating.md print. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  'workspaces list': /^ws_\w{32} /,
  'workspaces show': /"state": "active"/,
  'workspaces dispose': /^[\w-]+\.[\w-]+\.[\w-]+\s*$/,
  'ledger export': /\brent\b|\bsettled\b/,
  'receipt verify': /"reason": ?"operator"/,
};

/** A server with a workspace and a file in it. */
async function rig(t: Test) {
  const folder = t.testdir({});
  const data = join(folder, 'data');
  const server = await startTestServer(t, { DATA_DIR: data });
  const workspace = await new TestAgent(server.url).rent();
  return { folder, data, server, workspace };
}

t.test(
  'backup.md: a running server is backed up, and restored into a folder that did not exist',
  async (t) => {
    const { folder, data, workspace } = await rig(t);
    const [backup, , restore] = docBlocks('backup.md', 'sh', '').map((block) =>
      block.replaceAll('/backup/farthing-2026-01-31', join(folder, 'backup')),
    );
    await shell(backup!.replaceAll('/srv/farthing/data', data), folder);
    const restored = join(folder, 'restored');
    await shell(restore!.replaceAll('/srv/farthing/data', restored), folder);
    t.equal(readFileSync(join(restored, 'version'), 'utf8'), readFileSync(join(data, 'version'), 'utf8'));
    const { url } = await startTestServer(t, { DATA_DIR: restored });
    const usage = await fetch(`${url}/agent/v1/workspaces/${workspace.id}/usage`, {
      headers: { Authorization: `Bearer ${workspace.token}` },
    });
    t.equal(usage.status, 200, 'its token opens the restored workspace');
  },
);

t.test('operating.md: each of the operator’s commands runs on a server', async (t) => {
  const { folder, data, server, workspace } = await rig(t);
  writeFileSync(join(folder, 'keys.json'), await (await fetch(`${server.url}/.well-known/jwks.json`)).text());
  const environment = { FARTHING_DATA_DIR: data, FARTHING_MODELS_DIR: modelsIn(folder) };
  const ran: string[] = [];
  for (const line of docBlocks('operating.md', 'sh', '')[1]!.trimEnd().split('\n')) {
    // "admin NAME list | show ID" is two commands.
    const [first, ...others] = line.replace(/\s+#.*$/, '').split(' | ');
    const before = first!.split(' ').slice(0, 4).join(' ');
    for (const one of [first!, ...others.map((other) => `${before} ${other}`)]) {
      // It fetches from a hub: models.test.ts pulls from one of the test.
      if (/ pull /.test(one)) continue;
      const command = one
        .replace('FILE|- [KEYS]', 'receipt.jws keys.json')
        .replace(/\bID\b/, workspace.id)
        .replace(/\bDIR\b/, join(folder, 'backup'))
        .replace(/\bNAME\b/, 'multilingual-e5-small');
      // Models that are not pulled, what doctor warns of, and a chain that is not set are told with another status.
      const mayEnd = /doctor|reconcile|models verify/.test(command) ? '|| [ $? -le 2 ]' : '';
      const said = await shell(`${command} ${mayEnd}`, folder, environment);
      if (/dispose/.test(command)) writeFileSync(join(folder, 'receipt.jws'), said);
      t.match(said, PRINTED[/admin (\w+ ?\w*)/.exec(command)![1]!] ?? /\w{3}/, one);
      ran.push(one);
    }
  }
  t.equal(ran.length, 12, ran.join('\n'));
});

/** The tree's models in a folder that `use` may write in. */
function modelsIn(folder: string): string {
  const models = join(folder, 'models');
  mkdirSync(models);
  for (const name of readdirSync(join(root, 'models')))
    if (name !== 'lock.json') symlinkSync(join(root, 'models', name), join(models, name));
  return models;
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
          // What starts a server or asks others has its own tests.
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
