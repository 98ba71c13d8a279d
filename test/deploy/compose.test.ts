import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { readConfig } from '../../src/server/settings/config.ts';
import { isSetting, PREFIX } from '../../src/server/settings/names.ts';
import type { SettingName, Settings } from '../../src/server/settings/settings.ts';

/** The composition and its files, read as an engine would: none starts them here. */

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const deploy = resolve(import.meta.dirname, '../../deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');
const composition = parse(read('compose.yml'), { merge: true }) as Composition;
const services = Object.entries(composition.services);
const named = (prefix: string) => services.filter(([name]) => name.startsWith(prefix));
const garage = read('compose/garage.toml');
const balancer = read('compose/haproxy.cfg');
const image = read('Containerfile');
const chapter = read('../docs/cluster/containers.md');
/** Of the image, which the composition adds to. */
const ofImage = Object.fromEntries(
  /^ENV (NODE_ENV=.*)$/m
    .exec(image)![1]!
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);
const settings = named('farthing').map(
  ([name, { environment }]) => [name, readConfig({ ...ofImage, ...environment })] as const,
);
const only = <N extends SettingName>(setting: N): Settings[N] => {
  const values = new Set(settings.map(([, read]) => read[setting]));
  if (values.size !== 1) throw new Error(`${setting} differs`);
  return [...values][0]!;
};

t.test('three servers as docs/cluster.md asks, each with its name and address', async (t) => {
  t.equal(settings.length, 3);
  for (const [name, { environment = {} }] of named('farthing'))
    for (const [variable, value] of Object.entries(environment)) {
      t.type(value, 'string', `${name}: ${variable}`);
      t.ok(isSetting(variable.slice(PREFIX.length)), `${name}: ${variable} is a setting`);
    }
  const port = only('PORT');
  t.same(
    settings.map(([, { NODE_URL }]) => NODE_URL),
    settings.map(([name]) => `http://${name}:${port}`),
  );
  t.equal(new Set(settings.map(([, { NODE_ID }]) => NODE_ID)).size, 3);
  t.equal(only('SLOTS'), 8 * settings.length);
  t.ok(only('CLUSTER_LEASE_SECONDS') > 0);
  t.equal(only('HOST'), '0.0.0.0', 'others reach it');
  t.match(image, new RegExp(`^EXPOSE ${port}$`, 'm'));
  t.equal(
    only('BASE_URL'),
    `http://${composition.services.balancer!.ports![0]!.split(':').slice(0, 2).join(':')}`,
  );
});

t.test('servers name the members of etcd and the bucket that are there', async (t) => {
  const members = named('etcd');
  const [, hosts, cluster] = /^etcd:\/\/([^/]+)\/([\w-]+)$/.exec(only('CLUSTER'))!;
  t.ok(cluster);
  t.same(
    hosts!.split(','),
    members.map(([name]) => `${name}:2379`),
  );
  for (const [name, { environment }] of members)
    t.match(environment, {
      ETCD_NAME: name,
      ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
      ETCD_LISTEN_PEER_URLS: 'http://0.0.0.0:2380',
      ETCD_ADVERTISE_CLIENT_URLS: `http://${name}:2379`,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${name}:2380`,
      ETCD_INITIAL_CLUSTER: members.map(([other]) => `${other}=http://${other}:2380`).join(','),
      ETCD_AUTO_COMPACTION_MODE: 'periodic',
      ETCD_AUTO_COMPACTION_RETENTION: '10m',
    });

  const bucket = new URL(only('OBJECTS'));
  const endpoint = new URL(bucket.searchParams.get('endpoint')!);
  t.ok(composition.services[endpoint.hostname], endpoint.hostname);
  t.match(garage, `api_bind_addr = "0.0.0.0:${endpoint.port}"`);
  t.match(garage, `s3_region = "${bucket.searchParams.get('region')}"`);
  t.match(chapter, `bucket create ${bucket.hostname}\n`);
  t.match(only('OBJECTS_KEY_ID'), /^GK[0-9a-f]{24}$/);
  t.match(chapter, ` ${only('OBJECTS_KEY_ID')} `, 'the key that the page has Garage take');
});

t.test('mounts exist or are made as the page says; volumes are declared, used once', async (t) => {
  const volumes: string[] = [];
  for (const [name, service] of services) {
    for (const mount of service.volumes ?? []) {
      const source = mount.split(':')[0]!;
      if (source.startsWith('.')) t.ok(existsSync(join(deploy, source)), `${name}: ${source}`);
      else volumes.push(source);
    }
    for (const secret of service.secrets ?? []) t.ok(composition.secrets[secret], `${name}: ${secret}`);
  }
  t.same(volumes.sort(), Object.keys(composition.volumes).sort());
  for (const { file } of Object.values(composition.secrets)) {
    const made = file.replace(/^\$\{KEYS:-([^}]+)\}/, '$KEYS');
    t.match(chapter, `> ${made}`, `${made} is made`);
    t.match(chapter, `KEYS=${/^\$\{KEYS:-([^}]+)\}/.exec(file)?.[1]}`);
  }
  const inside = (path: string, service: string) =>
    composition.services[service]!.secrets!.map((secret) => `/run/secrets/${secret}`).includes(path);
  for (const [name, { CLUSTER_KEY_FILE, OBJECTS_SECRET_FILE, DATA_DIR }] of settings) {
    t.ok(inside(CLUSTER_KEY_FILE, name));
    t.ok(inside(OBJECTS_SECRET_FILE, name));
    t.same(composition.services[name]!.volumes, [`${name}:${DATA_DIR}`]);
  }
  t.ok(inside(/^rpc_secret_file = "(.*)"$/m.exec(garage)![1]!, 'garage'));
});

t.test('each service has a check of its health, and waits for services that are there', async (t) => {
  for (const [name, { healthcheck, depends_on: awaited = [] }] of services) {
    t.equal(healthcheck?.test[0], 'CMD', `${name}: its images have no shell for another form`);
    for (const other of Array.isArray(awaited) ? awaited : Object.keys(awaited))
      t.ok(composition.services[other], `${name} waits for ${other}`);
  }
});

t.test('the page builds the image that is started, and says what was not tried', async (t) => {
  const [, started] = /^localhost\/(.*)$/.exec(composition.services.farthing1!.image)!;
  t.match(chapter, `build -t localhost/${started} -f deploy/Containerfile .`);
  t.match(chapter, 'No container engine has started it');
});

t.test('the balancer leads to each server, in both lists', async (t) => {
  const lists = balancer.split(/^backend .*\n/m).slice(1);
  t.equal(lists.length, 2);
  for (const list of lists)
    t.same(
      [...list.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, id, host]) => [id, host]),
      settings.map(([name, { NODE_ID, PORT }]) => [NODE_ID, `${name}:${PORT}`]),
    );
  t.match(balancer, `bind :${composition.services.balancer!.ports![0]!.split(':').at(-1)}\n`);
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
