import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing } from '../../src/client/index.ts';
import { withoutEtcd } from '../cluster/etcd-servers.ts';
import { onlyDeep } from '../rig/deep.ts';
import { freePortsInRow } from '../rig/ports.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

/** The composition of docs/cluster/containers.md, as processes. */

t.setTimeout(300_000);
const root = resolve(import.meta.dirname, '../..');
const isBuilt = existsSync(join(root, '.build/server/main.js'));

async function readyUrl(child: ChildProcess): Promise<string> {
  for await (const line of createInterface(child.stdout!)) {
    const [, url] = /^the cluster serves at (\S+)$/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('the cluster ended before it was ready');
}

t.test(
  'a cluster of three sells, loses a server while it sells, and gets it back',
  { skip: withoutEtcd ?? (isBuilt ? onlyDeep : 'needs the built server: `make setup`') },
  async (t) => {
    const folder = temporaryFolder(t);
    const child = spawn(process.execPath, ['--no-warnings', join(root, 'scripts/cluster-up.ts'), folder], {
      env: { ...process.env, FIRST_PORT: String(await freePortsInRow(10)) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    t.teardown(async () => {
      child.kill('SIGTERM');
      await exit;
    });
    const baseUrl = await readyUrl(child);
    child.stdout!.resume();
    const account = privateKeyToAccount(generatePrivateKey());
    const farthing = new Farthing({ baseUrl, account, budgetUsd: '1' });
    const { workspace } = await farthing.workspaces.rent({ ttlMinutes: 15 });
    await workspace.ingest(join(root, 'samples/almanac.pdf'));
    const finds = async () => {
      const { hits } = await workspace.search('how do insects tell each other where flowers are?');
      return hits[0]?.item.name;
    };
    t.equal(await finds(), 'almanac.pdf');

    const pidOf = (name: string) => Number(readFileSync(join(folder, `${name}.pid`), 'utf8'));
    const former = pidOf('farthing2');
    process.kill(former, 'SIGKILL');
    // Its slots go to others when its lease is over; until then the answer may be that nobody has them.
    let found: string | undefined;
    for (; found === undefined; await pause(100)) found = await finds().catch(() => undefined);
    t.equal(found, 'almanac.pdf', 'found without the server, or with its successor');
    while (pidOf('farthing2') === former) await pause(100);
    const { claims } = await workspace.dispose();
    t.match(claims, { reason: 'deleted' });

    child.kill('SIGTERM');
    t.same(await exit, [0, null], 'it stops all that it started');
    for (const name of ['farthing1', 'farthing2', 'farthing3', 'etcd1'])
      t.throws(() => process.kill(pidOf(name), 0), { code: 'ESRCH' }, name);
  },
);
