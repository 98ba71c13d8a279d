import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { builtServer } from '../../../scripts/built-server.ts';
import { makeBooksOfLogs } from '../../cluster/books-of-log.ts';
import { EtcdServers } from '../../cluster/etcd-servers.ts';
import { GarageServer } from '../../cluster/garage-server.ts';
import { BARE_ENVIRONMENT, environmentOf, TESTED_SLOTS } from '../../rig/environment.ts';
import { Random } from '../../rig/random.ts';
import { serveFacilitator } from '../rig/facilitator-server.ts';
import { PAY_TO } from '../rig/payments.ts';
import { CrashClient } from './crash-client.ts';
import { judge } from './oracle.ts';
import { OutsideLedger, type Stage } from './outside-ledger.ts';

/** When a server is killed: at the n-th time that a stage's boundary is seen from outside, or after a while. */
type Moment = Stage | 'answered' | 'any' | 'starting';
const MOMENTS: readonly [Moment, ...Moment[]] = [
  'verify_in',
  'verify_out',
  'settle_in',
  'moved',
  'settle_out',
  'answered',
  'any',
  'any',
  'starting',
];

export interface CrashReport {
  readonly seed: number;
  /** Fewer than asked for when the time was over before. */
  readonly kills: number;
  /** Kills by the moment that was aimed at. */
  readonly moments: Readonly<Record<string, number>>;
  /** Payments found half-way after the kills, by the state of their record. */
  readonly halfWay: Readonly<Record<string, number>>;
  readonly purchases: number;
  /** Purchases that were answered, by what was bought. */
  readonly answered: Readonly<Record<string, number>>;
  readonly charges: number;
  /** Uploads that were answered and were found by their content at the end; the others were given up, each for a credit. */
  readonly found: number;
  readonly givenUp: number;
  readonly faults: readonly string[];
}

export interface CrashOptions {
  readonly seed: number;
  readonly kills: number;
  readonly clients: number;
  /** No kill begins later than this many seconds after the start: a starved machine ends in time, with fewer kills. */
  readonly secondsMax?: number;
  /**
   * The books are in etcd, and content in objects of a folder or of Garage: after each kill the books are judged as etcd's logs have them,
   * and the server's whole data folder is deleted.
   */
  readonly beyondDisk?: 'folder' | 'garage';
  readonly onKill?: (kill: number, moment: string) => void;
}

const ROOT = resolve(import.meta.dirname, '../../..');
const OCCURRENCES_MAX = 6;
const RUNNING_MS_MAX = 600;
/** Long enough for an upload, with the start of the process that reads it. */
const LONG_RUNNING_MS_MAX = 5000;
const STARTING_MS_MAX = 400;
/** A boundary that isn't reached by then: the kill comes anyway. */
const MOMENT_DEADLINE_MS = 1000;
const PENDING_DEADLINE_MS = 120_000;

/** Kills the whole server over and over under paid traffic, and lets the oracle look at the books after each kill. */
export async function runCrashes({
  seed,
  kills: killsAsked,
  clients,
  secondsMax = Number.POSITIVE_INFINITY,
  beyondDisk,
  onKill,
}: CrashOptions): Promise<CrashReport> {
  const deadline = performance.now() + 1000 * secondsMax;
  let kills = 0;
  let found = 0;
  /** Jobs that were killed at each of their starts. */
  const givenUp: string[] = [];
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'farthing-crash-'));
  const ledger = new OutsideLedger({
    random: random.fork(),
    repetition: random.pick(['told', 'refused'] as const),
    delayMsMax: 15,
  });
  const facilitator = await serveFacilitator(ledger);
  const losing = random.fork();
  const servers = beyondDisk ? await EtcdServers.start(join(folder, 'etcd')) : undefined;
  const garage = beyondDisk === 'garage' ? await GarageServer.start(join(folder, 'garage')) : undefined;
  const objects = beyondDisk && (await objectsIn(folder, garage));
  const server = new KilledServer(folder, facilitator.url, servers, objects);
  let reached: (moment: Moment) => void = () => {};
  ledger.onStage = (stage) => {
    facilitator.behaviour.settle = losing.hits(0.05) ? 'drops_after' : 'none';
    reached(stage);
  };
  const going = {
    stopped: false,
    get url() {
      return server.url;
    },
  };
  const buyers = Array.from(
    { length: clients },
    (_, index) =>
      new CrashClient(random.fork(), going, index === 0 || beyondDisk !== undefined, () =>
        reached('answered'),
      ),
  );
  const purchases = () => buyers.flatMap((buyer) => buyer.purchases);
  const answersAfterNote = servers !== undefined;
  const faults: string[] = [];
  const moments: Record<string, number> = {};
  const halfWay: Record<string, number> = {};
  const orphaned = () => {
    void server.kill();
    void servers?.stop();
    void garage?.stop();
  };
  process.once('exit', orphaned);
  try {
    await server.start();
    const bought = Promise.all(buyers.map((buyer) => buyer.run()));
    for (let kill = 1; kill <= killsAsked && faults.length === 0; kill++) {
      if (performance.now() > deadline) break;
      const moment = random.pick(MOMENTS);
      const occurrence = 1 + random.below(OCCURRENCES_MAX);
      if (moment === 'any')
        await after(random.below(random.hits(0.2) ? LONG_RUNNING_MS_MAX : RUNNING_MS_MAX));
      else if (moment !== 'starting') {
        let seen = 0;
        const boundary = new Promise<void>((resolveBoundary) => {
          reached = (at) => {
            if (at === moment && ++seen === occurrence) resolveBoundary();
          };
        });
        await Promise.race([boundary, after(MOMENT_DEADLINE_MS)]);
        reached = () => {};
        if (random.hits(0.5)) await after(random.below(4));
      }
      await server.kill(random.hits(0.5));
      kills = kill;
      moments[moment] = (moments[moment] ?? 0) + 1;
      onKill?.(kill, moment);
      const judgement = await judge(await server.books(), ledger.transfers, purchases(), {
        done: false,
        answersAfterNote,
      });
      faults.push(...judgement.faults.map((fault) => `after kill ${kill} (${moment}): ${fault}`));
      for (const [stage, count] of Object.entries(judgement.open))
        halfWay[stage] = (halfWay[stage] ?? 0) + count;
      server.loseDisk();
      if (servers && random.hits(0.25)) await servers.killAndRestart(random.below(3));
      const ready = server.start();
      if (kill < killsAsked && random.hits(1 / MOMENTS.length)) {
        await after(random.below(STARTING_MS_MAX));
        await server.kill();
        await ready;
        server.loseDisk();
        moments.starting = (moments.starting ?? 0) + 1;
        await server.start();
      } else await ready;
    }
    going.stopped = true;
    await bought;
    faults.push(...(await server.withoutPending()));
    if (faults.length === 0) {
      for (const uploads of await Promise.all(buyers.map((buyer) => buyer.findUploads()))) {
        found += uploads.found;
        givenUp.push(...uploads.givenUp);
      }
      faults.push(...(await server.withoutPending()));
    }
    await server.stop();
    const last = await judge(await server.books(), ledger.transfers, purchases(), {
      done: faults.length === 0,
      answersAfterNote,
      givenUp,
    });
    faults.push(...last.faults, ...buyers.flatMap((buyer) => buyer.faults));
  } finally {
    process.off('exit', orphaned);
    going.stopped = true;
    await server.kill();
    await facilitator.close();
    await servers?.stop();
    await garage?.stop();
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
  }
  const charges = ledger.transfers.size;
  const answered: Record<string, number> = {};
  for (const { kind, answer } of purchases()) if (answer) answered[kind] = (answered[kind] ?? 0) + 1;
  return {
    seed,
    kills,
    moments,
    halfWay,
    purchases: purchases().length,
    answered,
    charges,
    found,
    givenUp: givenUp.length,
    faults,
  };
}

/** The whole server, but for its models, in a process that is killed and started again over the same data. */
class KilledServer {
  readonly dataFolder: string;
  url = 'http://127.0.0.1:1';
  readonly #environment: Record<string, string | undefined>;
  readonly #folder: string;
  readonly #etcd: EtcdServers | undefined;
  #child: ChildProcess | undefined;

  constructor(
    folder: string,
    facilitatorUrl: string,
    etcd?: EtcdServers,
    objects: Readonly<Record<string, string>> = {},
  ) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.dataFolder = join(folder, 'data');
    const models = join(folder, 'models');
    mkdirSync(models);
    const manifest = JSON.parse(readFileSync(join(ROOT, 'models/manifest.json'), 'utf8')) as object;
    writeFileSync(join(models, 'manifest.json'), JSON.stringify({ ...manifest, use: {}, models: [] }));
    this.#environment = environmentOf({
      ...BARE_ENVIRONMENT,
      PORT: '0',
      BASE_URL: 'http://127.0.0.1:8402',
      DEMO: '0',
      LOG_LEVEL: 'info',
      DATA_DIR: this.dataFolder,
      MODELS_DIR: models,
      FACILITATOR_URL: facilitatorUrl,
      PAY_TO,
      ...(etcd && { CLUSTER: `etcd://${etcd.addresses.map((address) => new URL(address).host).join()}` }),
      ...objects,
    });
  }

  /** A data folder with the books as they would be found by whoever has nothing of this machine's disk. */
  async books(): Promise<string> {
    if (!this.#etcd) return this.dataFolder;
    const folder = join(this.#folder, 'judged');
    const slots = Number(TESTED_SLOTS.FARTHING_SLOTS ?? 1);
    await makeBooksOfLogs(this.#etcd.addresses, { cluster: 'farthing', slots, folder });
    return folder;
  }

  /** With etcd and objects, all that the dead server had on its disk is deleted. */
  loseDisk(): void {
    if (this.#etcd) rmSync(this.dataFolder, { recursive: true, force: true });
  }

  /** Resolves when it is ready, or when it was killed before. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [builtServer()], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, so that it can be killed together with the processes that read uploads.
      detached: true,
    });
    this.#child = child;
    await new Promise<void>((ready, reject) => {
      child.once('exit', (code, signal) =>
        signal ? ready() : reject(new Error(`the server ended with ${code} before it was ready`)),
      );
      createInterface(child.stdout).on('line', (line) => {
        if (!line.includes('"event":"ready"')) return;
        this.url = (JSON.parse(line) as { url: string }).url;
        ready();
      });
    });
  }

  /** `whole`: its child processes die with it, as in a power cut; otherwise they outlive it for a moment. */
  kill(whole = true): Promise<void> {
    return this.#end((pid) => process.kill(whole ? -pid : pid, 'SIGKILL'));
  }

  stop(): Promise<void> {
    return this.#end((pid) => process.kill(pid, 'SIGTERM'));
  }

  /** Waits until no payment is half-way. @returns what is wrong when some stay so. */
  async withoutPending(): Promise<string[]> {
    const givingUp = Date.now() + PENDING_DEADLINE_MS;
    for (;;) {
      const body = (await (await fetch(`${this.url}/readyz`)).json()) as { payment: { pending: number } };
      if (body.payment.pending === 0) return [];
      if (Date.now() > givingUp) return [`${body.payment.pending} payments are pending for ever`];
      await after(100);
    }
  }

  async #end(signal: (pid: number) => void): Promise<void> {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolveEnd) => child.once('exit', resolveEnd));
    signal(child.pid);
    await ended;
  }
}

/** Settings of a server whose content lies in objects. */
async function objectsIn(
  folder: string,
  garage: GarageServer | undefined,
): Promise<Readonly<Record<string, string>>> {
  const key = { FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex') };
  if (garage) {
    await garage.bucket('crash');
    return { ...key, ...garage.settings('crash') };
  }
  mkdirSync(join(folder, 'objects'));
  return { ...key, FARTHING_OBJECTS: `file://${join(folder, 'objects')}` };
}
