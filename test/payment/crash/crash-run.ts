import { setTimeout as after } from 'node:timers/promises';
import { CrashPlace, type PlaceOptions } from '../../cluster/crash-place.ts';
import { Random } from '../../rig/random.ts';
import { CrashClient } from './crash-client.ts';
import { KilledServer } from './killed-server.ts';
import { judge } from './oracle.ts';
import { type ChainStage, startOutsideChain } from './outside/outside-chain.ts';
import { openOutsideLedger } from './outside/outside-facilitator.ts';
import type { Stage } from './outside/outside-ledger.ts';

/** When a server is killed: at the n-th time that a stage's boundary is seen from outside, or after a while. */
type Moment = Stage | ChainStage | 'answered' | 'any' | 'starting';
type Moments = readonly [Moment, ...Moment[]];
const MOMENTS: Moments = [
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

/** The same, of a server that settles itself. */
const MOMENTS_OF_SELF: Moments = [
  'simulated',
  'estimated',
  'send_in',
  'send_in',
  'send_out',
  'mined',
  'receipt',
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
  /** Charges by prepaid money. */
  readonly prepaid: number;
  /** Uploads that were answered and were found by their content at the end; the others were given up, each for a credit. */
  readonly found: number;
  readonly givenUp: number;
  /** Count of each event at the chain, where the server settles itself. */
  readonly chain: Readonly<Record<string, number>>;
  /** How often each fault came to etcd, or to the way there. */
  readonly etcdFaults: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

export interface CrashOptions extends PlaceOptions {
  readonly seed: number;
  readonly kills: number;
  readonly clients: number;
  /** The server is its own facilitator, on a chain that loses, drops and reorganises. */
  readonly self?: boolean;
  /** Half the clients pay in advance, whatever the seed: otherwise in the three of four runs in which such a payment can be proved. */
  readonly prepays?: boolean;
  /** No kill begins later than this many seconds after the start: a starved machine ends in time, with fewer kills. */
  readonly secondsMax?: number;
  readonly onKill?: (kill: number, moment: string) => void;
}

const OCCURRENCES_MAX = 6;
const RUNNING_MS_MAX = 600;
/** Long enough for an upload, with the start of the process that reads it. */
const LONG_RUNNING_MS_MAX = 5000;
const STARTING_MS_MAX = 400;
/** A boundary that isn't reached by then: the kill comes anyway. */
const MOMENT_DEADLINE_MS = 1000;

/** Kills the whole server over and over under paid traffic, and lets the oracle look at the books after each kill. */
export async function runCrashes({
  seed,
  kills: killsAsked,
  clients,
  self = false,
  prepays = false,
  secondsMax = Number.POSITIVE_INFINITY,
  beyondDisk,
  losesPower,
  twoNodes,
  onKill,
}: CrashOptions): Promise<CrashReport> {
  const deadline = performance.now() + 1000 * secondsMax;
  let kills = 0;
  let found = 0;
  /** Jobs that were killed at each of their starts. */
  const givenUp: string[] = [];
  const random = new Random(seed);
  let reached: (moment: Moment) => void = () => {};
  const onStage = (stage: Stage | ChainStage) => reached(stage);
  const outside = self
    ? await startOutsideChain(random, onStage)
    : await openOutsideLedger(random, onStage, prepays);
  const aimed = self ? MOMENTS_OF_SELF : MOMENTS;
  const place = await CrashPlace.open({ beyondDisk, losesPower, twoNodes }, random.fork());
  const server = new KilledServer(place, outside.settings);
  const going = {
    stopped: false,
    get url() {
      return server.url;
    },
  };
  const buyers = Array.from(
    { length: clients },
    (_, index) =>
      new CrashClient(
        random.fork(),
        going,
        {
          losesDisk: index === 0 || beyondDisk !== undefined || losesPower === true,
          prepays: outside.provesAdvances && index % 2 === 1,
        },
        () => reached('answered'),
      ),
  );
  const purchases = () => buyers.flatMap((buyer) => buyer.purchases);
  const answersAfterNote = beyondDisk !== undefined;
  let prepaid = 0;
  const faults: string[] = [];
  const moments: Record<string, number> = {};
  const halfWay: Record<string, number> = {};
  const orphaned = () => {
    void server.kill();
    void place.close({ keep: true });
  };
  process.once('exit', orphaned);
  try {
    await outside.begin(buyers.map(({ address }) => address));
    await server.start();
    const bought = Promise.all(buyers.map((buyer) => buyer.run()));
    for (let kill = 1; kill <= killsAsked && faults.length === 0; kill++) {
      if (performance.now() > deadline) break;
      const moment = random.pick(aimed);
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
      await place.end(server, random.hits(0.5));
      kills = kill;
      moments[moment] = (moments[moment] ?? 0) + 1;
      onKill?.(kill, moment);
      const judgement = await judge(await place.books(), outside.transfers, purchases(), {
        done: false,
        answersAfterNote,
      });
      faults.push(...judgement.faults.map((fault) => `after kill ${kill} (${moment}): ${fault}`));
      for (const [stage, count] of Object.entries(judgement.open))
        halfWay[stage] = (halfWay[stage] ?? 0) + count;
      place.loseData();
      const ready = server.start();
      if (kill < killsAsked && random.hits(1 / aimed.length)) {
        await after(random.below(STARTING_MS_MAX));
        await place.end(server, true);
        await ready;
        place.loseData();
        moments.starting = (moments.starting ?? 0) + 1;
        await server.start();
      } else await ready;
    }
    going.stopped = true;
    await place.calm();
    await bought;
    faults.push(...(await outside.calm()), ...(await server.withoutPending()));
    if (faults.length === 0) {
      for (const uploads of await Promise.all(buyers.map((buyer) => buyer.findUploads()))) {
        found += uploads.found;
        givenUp.push(...uploads.givenUp);
      }
      faults.push(...(await server.withoutPending()));
    }
    await server.stop();
    const last = await judge(await place.books(), outside.transfers, purchases(), {
      done: faults.length === 0,
      answersAfterNote,
      givenUp,
    });
    prepaid = last.prepaid;
    faults.push(...last.faults, ...buyers.flatMap((buyer) => buyer.faults));
  } finally {
    process.off('exit', orphaned);
    going.stopped = true;
    await server.kill();
    await outside.close();
    await place.close({ keep: faults.length > 0 });
  }
  const charges = outside.transfers.size;
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
    prepaid,
    found,
    givenUp: givenUp.length,
    chain: outside.counts(),
    etcdFaults: place.etcdFaults,
    faults,
  };
}
