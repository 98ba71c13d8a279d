/**
 * Starts what deploy/compose.yml describes as processes of this machine, with its settings: three members of etcd, three servers, and HAProxy
 * where it is installed. Objects lie in a folder instead of Garage. `node scripts/cluster-up.ts [FOLDER]`; called by `make cluster-up`.
 * FIRST_PORT is the balancer's; the others take the nine after it. It runs until it is interrupted, and starts again a server that ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { readFolder } from './words.ts';

interface Composition {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}

const START_MS_MAX = 180_000;
const STOP_MS_MAX = 45_000;
const root = resolve(import.meta.dirname, '..');
const folder = readFolder(
  {
    command: 'cluster-up.ts [FOLDER]',
    does: 'Starts three servers, three members of etcd and a balancer, with their data in FOLDER (.build/cluster), until it is interrupted.',
  },
  '.build/cluster',
);
const etcd = join(root, '.build/etcd');
const haproxy = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path));
const firstPort = Number(process.env.FIRST_PORT ?? 8402);
const { services } = parse(readFileSync(join(root, 'deploy/compose.yml'), 'utf8'), {
  merge: true,
}) as Composition;
const named = (prefix: string) => Object.keys(services).filter((name) => name.startsWith(prefix));
const servers = named('farthing');
const members = named('etcd');
/** Names and ports of the composition, and where each is here. */
const addresses = new Map<string, string>([
  ...servers.map((name, number) => [`${name}:8402`, local(1 + number)] as const),
  ...members.map((name, number) => [`${name}:2379`, local(4 + number)] as const),
  ...members.map((name, number) => [`${name}:2380`, local(7 + number)] as const),
]);
const running = new Map<string, ChildProcess>();
let isStopping = false;

if (!existsSync(etcd)) stop('etcd is not built: make etcd');
if (!existsSync(join(root, '.build/server/main.js'))) stop('the server is not built: make setup');
mkdirSync(join(folder, 'objects'), { recursive: true });
const key = join(folder, 'cluster.key');
if (!existsSync(key)) writeFileSync(key, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
process.on('SIGINT', () => void stopAll());
process.on('SIGTERM', () => void stopAll());

for (const name of members) keep(name, etcd, ['--log-level', 'error'], etcdEnvironment(name));
for (const name of members) await answers(`http://${addressOf(`${name}:2379`)}/health`);
for (const name of servers)
  keep(name, process.execPath, [join(root, '.build/server/main.js')], serverEnvironment(name));
for (const name of servers) await answers(`http://${addressOf(`${name}:8402`)}/readyz`);
if (haproxy) keep('balancer', haproxy, ['-db', '-f', balancerFile()], {});
else console.log('no balancer: haproxy is not installed. Any server takes any request.');
const url = haproxy ? `http://${local(0)}` : `http://${addressOf(`${servers[0]}:8402`)}`;
await answers(`${url}/readyz`);
console.log(`the cluster serves at ${url}`);
console.log(
  `kill -9 $(cat ${join(folder, servers[1]!)}.pid)   ends a server; it comes back. Ctrl-C stops all.`,
);

function local(offset: number): string {
  return `127.0.0.1:${firstPort + offset}`;
}

function addressOf(name: string): string {
  return addresses.get(name)!;
}

/** The composition's own settings, with addresses of this machine. */
function environmentOf(name: string): Record<string, string> {
  const here = (text: string) =>
    text.replace(/\b\w+\d:\d+\b/g, (address) => addresses.get(address) ?? address);
  const settings = Object.entries(services[name]!.environment ?? {});
  return Object.fromEntries(settings.map(([variable, value]) => [variable, here(value)]));
}

function etcdEnvironment(name: string): NodeJS.ProcessEnv {
  return {
    ...environmentOf(name),
    ETCD_DATA_DIR: join(folder, name),
    ETCD_LISTEN_CLIENT_URLS: `http://${addressOf(`${name}:2379`)}`,
    ETCD_LISTEN_PEER_URLS: `http://${addressOf(`${name}:2380`)}`,
  };
}

function serverEnvironment(name: string): NodeJS.ProcessEnv {
  const { FARTHING_OBJECTS_KEY_ID: _, FARTHING_OBJECTS_SECRET_FILE: __, ...settings } = environmentOf(name);
  return {
    ...settings,
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    FARTHING_BASE_URL: `http://${haproxy ? local(0) : addressOf(`${servers[0]}:8402`)}`,
    FARTHING_HOST: '127.0.0.1',
    FARTHING_PORT: addressOf(`${name}:8402`).split(':')[1],
    FARTHING_DATA_DIR: join(folder, name),
    FARTHING_DEMO: '0',
    FARTHING_CLUSTER_KEY_FILE: key,
    FARTHING_OBJECTS: `file://${join(folder, 'objects')}`,
  };
}

/** The composition's, without the names of an engine. @returns its path */
function balancerFile(): string {
  const text = readFileSync(join(root, 'deploy/compose/haproxy.cfg'), 'utf8')
    .replace(/^resolvers .*\n(?: .*\n)*/m, '')
    .replaceAll(' resolvers engine init-addr libc,none', '')
    .replace(/^ *default-server *$\n/gm, '')
    .replace('bind :8402', `bind ${local(0)}`)
    .replace(/\bfarthing\d:8402\b/g, addressOf);
  const path = join(folder, 'haproxy.cfg');
  writeFileSync(path, text);
  return path;
}

/** Starts a program, and starts it again when it ends. Its output goes to NAME.log, its process id to NAME.pid. */
function keep(name: string, program: string, words: readonly string[], env: NodeJS.ProcessEnv): void {
  const log = openSync(join(folder, `${name}.log`), 'a', 0o600);
  const start = () => {
    // Of its own group: Ctrl-C reaches this process, which stops the servers before what they need.
    const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', log, log], detached: true });
    running.set(name, child);
    child.once('error', (error) => stop(`${name} does not start: ${error.message}`));
    writeFileSync(join(folder, `${name}.pid`), String(child.pid));
    child.once('exit', () => {
      if (!isStopping) setTimeout(() => isStopping || start(), 1000);
    });
  };
  start();
}

async function answers(address: string): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (!isStopping) {
    const ok = await fetch(address, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (performance.now() > deadline) {
      console.error(`${address} does not answer: see the logs in ${folder}`);
      process.exitCode = 1;
      await stopAll();
    }
    await pause(200);
  }
  // What stops ends this process.
  await new Promise(() => undefined);
}

/** Servers first: they give their slots back, for which they need etcd. */
async function stopAll(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  for (const names of [['balancer'], servers, members]) await Promise.all(names.map(ended));
  process.exit();
}

async function ended(name: string): Promise<void> {
  const child = running.get(name);
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const isLate = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await exit;
  clearTimeout(isLate);
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}
