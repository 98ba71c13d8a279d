import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type BenchServer, startScript, startServer } from '../rig/agent.ts';
import { forkFacilitator } from '../rig/facilitator.ts';
import type { LoadRequest, Order } from '../rig/order.ts';
import { BenchPayer, type Offer } from '../rig/payer.ts';
import { untilIdle } from '../rig/process-tree.ts';

/** The servers that do the whole job, with the same payments in front of the same facilitator. */
export type Who = 'farthing' | 'assembled';

const PAY_TO = '0x00000000000000000000000000000000000fa271';
const ASSEMBLED = join(import.meta.dirname, '../peers/assembled/server.js');
const PATHS = {
  farthing: { search: '/agent/v1/search', ingest: '/agent/v1/ingest' },
  assembled: { search: '/search', ingest: '/ingest' },
} as const;
/** One payer makes all the load here; what a server allows one Tenant is not what is measured. */
const UNLIMITED = { TENANT_REQUESTS_PER_SECOND: '1000000' };

export const hasAssembled = (): boolean =>
  existsSync(join(import.meta.dirname, '../peers/node_modules/onnxruntime-node'));

/** A server and the one wallet that pays it. */
export class Contender {
  readonly who: Who;
  readonly server: BenchServer;
  readonly #privateKey = generatePrivateKey();
  readonly #offers = new Map<string, Offer>();

  constructor(who: Who, server: BenchServer) {
    this.who = who;
    this.server = server;
  }

  get payer(): BenchPayer {
    return new BenchPayer(privateKeyToAccount(this.#privateKey));
  }

  /** The paid order of some requests. */
  async order(
    what: 'search' | 'ingest',
    requests: readonly LoadRequest[],
    rest: Pick<Order, 'loop' | 'seconds' | 'warmUpSeconds' | 'once'>,
  ): Promise<Order> {
    const path = PATHS[this.who][what];
    const headers: Record<string, string> = what === 'ingest' ? { Prefer: 'wait=60' } : {};
    const payer = { privateKey: this.#privateKey, offer: await this.offer(what) };
    return { url: this.server.url, path, headers, requests, payer, ...rest };
  }

  async offer(what: 'search' | 'ingest'): Promise<Offer> {
    const known = this.#offers.get(what) ?? (await BenchPayer.offer(this.url(what)));
    this.#offers.set(what, known);
    return known;
  }

  url(what: 'search' | 'ingest'): string {
    return this.server.url + PATHS[this.who][what];
  }
}

export interface Contest {
  readonly contenders: readonly Contender[];
  verifyTakes(milliseconds: number): void;
  stop(): Promise<void>;
}

/** Starts all that are installed, before one facilitator that agrees to everything. */
export async function startContest(): Promise<Contest> {
  const facilitator = await forkFacilitator();
  const { url } = facilitator;
  const common = { FACILITATOR: url, PAY_TO };
  const contenders = [new Contender('farthing', await startServer({ ...common, ...UNLIMITED }))];
  if (hasAssembled()) {
    const model = resolve(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
    const server = await startScript(ASSEMBLED, { ...common, MODEL: model, TOKEN: 'bench' });
    contenders.push(new Contender('assembled', server));
  }
  await Promise.all(contenders.map(({ server }) => untilIdle(server.pid)));
  return {
    contenders,
    verifyTakes: facilitator.verifyTakes,
    stop: async () => {
      await Promise.all(contenders.map(({ server }) => server.stop()));
      facilitator.close();
    },
  };
}
