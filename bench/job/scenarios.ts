import type { Loop } from '../rig/loops.ts';
import type { Who } from './contenders.ts';

/** One measurement: who is asked what, by how many, how long and how often. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly who: readonly Who[];
  /** Kind of request; `ingest` sends each abstract once. */
  readonly what: 'search' | 'ingest';
  /** `share_of_capacity`: an open loop at so much of what the server's best closed loop of this run reached. */
  readonly loop: Loop | { readonly shareOfCapacity: number };
  /** How long the facilitator takes to verify. */
  readonly verifyMs?: number;
  /** Clients that upload meanwhile, each with one abstract at a time. */
  readonly ingestClients?: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly runs: number;
}

export interface Plan {
  readonly name: string;
  /** Abstracts of SciFact: the judged ones first. */
  readonly documents: number;
  /** Abstracts that are uploaded while searches are measured, for each contender. */
  readonly besides: number;
  readonly scenarios: readonly Scenario[];
}

const BOTH: readonly Who[] = ['farthing', 'assembled'];

function scenarios(of: {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly runs: number;
  readonly clients: readonly number[];
}): Scenario[] {
  const timed = { seconds: of.seconds, warmUpSeconds: of.warmUpSeconds, runs: of.runs };
  const search = { what: 'search' as const, who: BOTH, ...timed };
  return [
    {
      name: 'ingest',
      title: 'Paid uploads of abstracts, 8 clients',
      who: BOTH,
      what: 'ingest',
      loop: { clients: 8 },
      seconds: 3600,
      warmUpSeconds: 0,
      runs: of.runs,
    },
    ...of.clients.map((clients) => ({
      ...search,
      name: `search-${clients}`,
      title: `Paid searches, ${clients} client${clients === 1 ? '' : 's'}`,
      loop: { clients },
    })),
    {
      ...search,
      name: 'search-verify-50',
      title: 'Paid searches, 1 client, a facilitator that takes 50 ms to verify',
      loop: { clients: 1 },
      verifyMs: 50,
    },
    {
      ...search,
      name: 'search-half',
      title: 'Paid searches at half of the server’s own capacity, open loop',
      loop: { shareOfCapacity: 0.5 },
    },
    {
      ...search,
      name: 'search-ingest',
      title: 'Paid searches at a tenth of the capacity, open loop, while abstracts are uploaded',
      loop: { shareOfCapacity: 0.1 },
      ingestClients: 4,
    },
    {
      ...search,
      name: 'search-alone',
      title: 'The same without uploads',
      loop: { shareOfCapacity: 0.1 },
    },
    {
      ...search,
      name: 'overload',
      title: 'Paid searches at three times the capacity, open loop',
      loop: { shareOfCapacity: 3 },
      // A burst of a second or two is answered whole: this is one that lasts.
      seconds: 2 * of.seconds,
      warmUpSeconds: 0,
    },
  ];
}

/** `make bench`: under twenty minutes on two cores. */
export const FULL: Plan = {
  name: 'bench',
  documents: 1200,
  besides: 240,
  scenarios: scenarios({ seconds: 5, warmUpSeconds: 1, runs: 3, clients: [1, 4, 16, 32] }),
};

/** `make bench-quick`: under three minutes. */
export const QUICK: Plan = {
  name: 'bench-quick',
  documents: 150,
  besides: 60,
  scenarios: scenarios({ seconds: 2, warmUpSeconds: 0.5, runs: 2, clients: [1, 8] }),
};

/** Each scenario for a moment: whether the bench runs, no figure. */
export const TRIAL: Plan = {
  name: 'trial',
  documents: 8,
  besides: 4,
  scenarios: scenarios({ seconds: 0.4, warmUpSeconds: 0.1, runs: 1, clients: [1, 2] }),
};
