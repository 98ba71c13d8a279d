import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { readConfig } from '../../src/server/settings/config.ts';

/** What an engine would start with; `cluster-up.test.ts` starts the composition as processes. */

const deploy = resolve(import.meta.dirname, '../../deploy');

interface Composition {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}

t.test('the settings of the three servers are taken, each with its own name and address', async (t) => {
  const { services } = parse(readFileSync(join(deploy, 'compose.yml'), 'utf8'), {
    merge: true,
  }) as Composition;
  const servers = Object.entries(services).filter(([name]) => name.startsWith('farthing'));
  t.equal(servers.length, 3);
  const settings = servers.map(([, { environment }]) =>
    readConfig({ NODE_ENV: 'production', ...environment }),
  );
  t.equal(new Set(settings.map(({ NODE_ID }) => NODE_ID)).size, 3);
  t.same(
    settings.map(({ NODE_URL, PORT }) => NODE_URL?.replace(`:${PORT}`, '')),
    servers.map(([name]) => `http://${name}`),
  );
});

const HAPROXY = [process.env.HAPROXY_BINARY, '/usr/sbin/haproxy'].find((path) => path && existsSync(path));

t.test(
  'HAProxy takes its file',
  { skip: HAPROXY === undefined && 'haproxy is not installed (HAPROXY_BINARY=/path/to/haproxy)' },
  async (t) => {
    const checked = spawnSync(HAPROXY!, ['-c', '-f', join(deploy, 'compose/haproxy.cfg')], {
      encoding: 'utf8',
    });
    t.equal(checked.status, 0, checked.stderr);
  },
);
