import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fromNative, native } from '@farthing/native';
import { EXTRACT_LIMITS } from '@farthing/protocol/document';
import type { Finding } from '@farthing/protocol/schema/operator';
import type { PreviousModel } from '@farthing/protocol/schema/service';
import { openExtractor } from '@farthing/readers/open-extractor';
import { memoryLeft } from '../../metrics/memory-left.ts';
import { configNotices, type Environment } from '../../settings/config.ts';
import type { Settings } from '../../settings/settings.ts';
import { folderMoney, moneyFault, moneyOf, shown } from '../../state/folder-money.ts';
import { restoredFrom } from '../backup/stopped-backup.ts';
import type { LoadClusterTools } from '../cluster-tools.ts';
import { ok, problem, warning } from '../finding.ts';
import { models, nativeEncoder, previous, providers } from './models.ts';
import { purchase } from './purchase.ts';
import { sales } from './sales.ts';
import { threads } from './threads.ts';

const GIBIBYTE = 2 ** 30;

export interface Examined {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Checks of etcd and of the object store. */
  readonly cluster: LoadClusterTools;
}

type Check = readonly [name: string, check: () => Finding[] | Promise<Finding[]>];

/** Examines the host and the settings. Keeps nothing that it writes; a check that fails itself is a finding, too. */
export function examine({ settings, environment, cluster }: Examined): Promise<Finding[]> {
  return run([
    ...checksOf({ settings, environment, cluster }),
    ['port', () => ports(settings)],
    ['confinement', () => confinement()],
  ]);
}

/** As `examine`, and buys the cheapest thing from the running server, with the wallet of the agent's commands. Costs its price. */
export async function examineByPaying(examined: Examined): Promise<Finding[]> {
  const { settings, environment } = examined;
  const found = await examine(examined);
  return [...found, ...(await run([['purchase', () => purchase(settings, environment)]]))];
}

/** Facts that only a running server knows. */
export interface RunningFacts {
  /** As its readers reported it. */
  readonly confined: unknown;
  /** Models that are not in use and that living indexes may have. */
  readonly previousModels?: readonly PreviousModel[] | undefined;
}

/** As `examine`, inside a running server: without its ports, which are taken. */
export function examineRunning(
  examined: Examined,
  { confined, previousModels = [] }: RunningFacts,
): Promise<Finding[]> {
  const findings = typeof confined === 'object' && confined !== null ? reported(confined) : [];
  return run([
    ...checksOf(examined),
    ['previous models', () => previous(previousModels)],
    ['confinement', () => findings],
  ]);
}

function checksOf({ settings, environment, cluster }: Examined): Check[] {
  return [
    ['settings', () => names(environment)],
    ['processor', () => [processor()]],
    ['kernel', () => [kernel(environment.FARTHING_KERNEL)]],
    ['node', () => [nodeVersion(), glibc()]],
    ['memory', () => [memory()]],
    ['data folder', () => [dataFolder(settings)]],
    ['disk', () => disk(settings)],
    ['money', () => money(settings)],
    ['file limit', () => [fileLimit(settings)]],
    ['threads', () => [threads()]],
    ['models', () => models(settings)],
    ['providers', () => providers(settings)],
    ['native encoder', () => nativeEncoder(settings)],
    ['books', async () => (await cluster()).examineBooks(settings)],
    ['objects', async () => (await cluster()).examineObjects(settings)],
    ['sales', () => sales(settings)],
    ['x402 clients', () => [clients(settings)]],
  ];
}

async function run(checks: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of checks) {
    try {
      findings.push(...(await check()));
    } catch (error) {
      findings.push(problem(name, `could not be checked: ${(error as Error).message}`, 'See the message.'));
    }
  }
  return findings;
}

function names(environment: Environment): Finding[] {
  const notices = configNotices(environment);
  if (notices.length === 0) return [ok('settings', 'every name is known')];
  return notices.map(({ variable, note }) => warning('settings', variable, note));
}

function processor(): Finding {
  const flags = new Set(
    /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' '),
  );
  const known = ['avx2', 'avx512f', 'avx512bw', 'avx512_vnni', 'asimd'].filter((flag) => flags.has(flag));
  const name = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ${known.join(' ') || 'no vector units'}`;
  return known.length > 0
    ? ok('processor', name)
    : warning('processor', name, 'Searches use plain code here: several times slower than with AVX2.');
}

/** The native addon chooses its kernel once for each process. */
function kernel(forced: string | undefined): Finding {
  const how = forced ? `forced by FARTHING_KERNEL` : 'the best that this processor has';
  try {
    return ok('kernel', `${native.kernelName()} (${how})`);
  } catch (error) {
    return problem('kernel', (fromNative(error) as Error).message, 'Leave FARTHING_KERNEL unset.');
  }
}

function nodeVersion(): Finding {
  return Number(process.versions.node.split('.')[0]) >= 22
    ? ok('node', process.version)
    : problem('node', process.version, 'Run "make setup": it brings the pinned Node 22.');
}

function glibc(): Finding {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const version = header.glibcVersionRuntime;
  if (version === undefined)
    return problem('glibc', 'this is no glibc system', 'Use Debian 12, Ubuntu 24.04 or newer.');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || minor >= 36
    ? ok('glibc', version)
    : problem('glibc', version, 'The HTTP server needs 2.36: use Debian 12, Ubuntu 24.04 or newer.');
}

function memory(): Finding {
  const { left, limit, of } = memoryLeft();
  const found = `${(left / GIBIBYTE).toFixed(1)} of the ${of}’s ${(limit / GIBIBYTE).toFixed(1)} GiB free`;
  return limit >= 2 * GIBIBYTE
    ? ok('memory', found)
    : warning(
        'memory',
        found,
        'Give the server 2 GiB, or set FARTHING_QUERY_WORKERS=1 and FARTHING_INGEST_WORKERS=1.',
      );
}

/** The folder, or the one that it is to be made in. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}

function dataFolder({ DATA_DIR }: Settings): Finding {
  const data = resolve(DATA_DIR);
  const folder = existing(data);
  const faulty = (why: string) =>
    problem(
      'data folder',
      `${folder} ${why}`,
      'Set FARTHING_DATA_DIR to a folder that the server may write.',
    );
  if (!statSync(folder).isDirectory()) return faulty('is no folder');
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return faulty('cannot be written to');
  }
  if (folder === data) return ok('data folder', data);
  return warning(
    'data folder',
    `${data} is not there: no server has run on it`,
    'The first start makes it. For a server that has run, set FARTHING_DATA_DIR to its folder.',
  );
}

async function disk({ DATA_DIR, FILE_BYTES_MAX }: Settings): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(existing(resolve(DATA_DIR)));
  const free = bavail * bsize;
  const found = `${(free / GIBIBYTE).toFixed(1)} GiB free for ${resolve(DATA_DIR)}`;
  const remedy = 'Make room, or set FARTHING_DATA_DIR to a larger disk.';
  if (free < 2 * FILE_BYTES_MAX) return [problem('disk', found, remedy)];
  return [free < 5 * GIBIBYTE ? warning('disk', found, remedy) : ok('disk', found)];
}

/** The money of the data folder, and whether it is as a backup had it. */
async function money(settings: Settings): Promise<Finding[]> {
  const data = resolve(settings.DATA_DIR);
  const [kept, asked] = [await folderMoney(data), moneyOf(settings)];
  const fault = moneyFault(kept, asked);
  const found =
    fault === undefined
      ? ok('money', `${shown(kept ?? asked)}${kept ? '' : ', from the first start on'}`)
      : problem('money', `${data}: ${fault}`, 'See docs/get-paid.md: one money a folder.');
  const backup = await restoredFrom(data);
  if (backup === undefined) return [found];
  return [
    found,
    warning(
      'restored backup',
      `the books are those of a backup, restored ${backup}: prepaid money${asked.money === 'play' ? ' and play money' : ''} that was spent since the backup can be spent again`,
      'See docs/backup.md, "Restore". Remove the file "restored" from the data folder once the books agree.',
    ),
  ];
}

function fileLimit({ OPEN_SHARDS_MAX }: Settings): Finding {
  const soft = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '0';
  // Three for each open index, and 1,024 for connections and files.
  const wanted = 3 * OPEN_SHARDS_MAX + 1024;
  if (soft === 'unlimited' || Number(soft) >= wanted) return ok('file limit', soft);
  return warning(
    'file limit',
    soft,
    `ulimit -n ${wanted}, or LimitNOFILE=${wanted} in the unit, or a lower FARTHING_OPEN_SHARDS_MAX.`,
  );
}

/** Which clients can pay: every v2 client, and v1 clients where the body names the network as they know it. */
function clients({ X402_BODY_NETWORK, NETWORK }: Settings): Finding {
  return ok(
    'x402 clients',
    X402_BODY_NETWORK === 'base'
      ? 'v2 and v1 (FARTHING_X402_BODY_NETWORK=base)'
      : `v2; the bodies of 402s name ${NETWORK}, which v1 clients refuse: FARTHING_X402_BODY_NETWORK=base serves both`,
  );
}

function ports(settings: Settings): Promise<Finding[]> {
  const { HOST, PORT, METRICS_HOST, METRICS_PORT, ADMIN_PORT } = settings;
  return Promise.all([
    port('port', HOST, PORT, 'FARTHING_PORT'),
    ...(METRICS_PORT === 'off'
      ? []
      : [port('port of metrics', METRICS_HOST, METRICS_PORT, 'FARTHING_METRICS_PORT')]),
    ...(ADMIN_PORT === undefined
      ? []
      : [port('port of the page', '127.0.0.1', ADMIN_PORT, 'FARTHING_ADMIN_PORT')]),
  ]);
}

function port(check: string, host: string, number: number, setting: string): Promise<Finding> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const found = taken ? `${host}:${number} is taken` : `${host}:${number}: ${error.message}`;
      const remedy = taken
        ? `Is Farthing running already? Otherwise set another ${setting}.`
        : `Set another address or ${setting}.`;
      done(taken ? warning(check, found, remedy) : problem(check, found, remedy));
    });
    server.listen(number, host, () => server.close(() => done(ok(check, `${host}:${number} is free`))));
  });
}

/** Starts the processes that read untrusted files and reports what confines them. */
async function confinement(): Promise<Finding[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'farthing-doctor-'));
  const extractor = openExtractor({
    pictureSpec: undefined,
    limits: EXTRACT_LIMITS,
    scratchFolder: join(scratch, 'scratch'),
    log: () => {},
  });
  try {
    const sample = join(scratch, 'sample.txt');
    await writeFile(sample, 'A sample.\n');
    await extractor.open(sample, { name: 'sample.txt' });
    return reported(extractor.confinement() ?? {});
  } finally {
    await extractor.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

function reported(outcome: object): Finding[] {
  return Object.entries(outcome).map(([name, state]) =>
    state === 'enforced'
      ? ok(`confinement ${name}`, state)
      : warning(
          `confinement ${name}`,
          String(state),
          'Untrusted files are read with less protection: use a kernel with Landlock and seccomp (5.13 or newer), outside of containers that forbid them.',
        ),
  );
}
