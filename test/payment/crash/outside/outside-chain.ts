import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { type Hex, hexToBigInt, keccak256 } from 'viem';
import { BASE_USDC } from '../../../../src/payment/asset.ts';
import { TOPICS } from '../../../../src/payment/facilitator/rpc-witness.ts';
import type { Random } from '../../../rig/random.ts';
import { type Chain, startChain } from '../../chain/chain.ts';
import type { Outside } from './outside.ts';

/** Stages of a payment that the node sees when the server settles itself. */
export type ChainStage = 'simulated' | 'estimated' | 'send_in' | 'send_out' | 'mined' | 'receipt';

const MINE_MS_MAX = 250;
const REORGANISED = 0.04;
const REORGANISED_BLOCKS = 2;
/** Shares of the transactions: taken and never sent on, sent on without an answer, and refused as too cheap. */
const DROPPED = 0.05;
const UNANSWERED = 0.05;
const UNDERPRICED = 0.05;
/** Share of all other calls. */
const LOST = 0.01;
const PURSE = 10n ** 12n;
const CALM_MS_MAX = 60_000;
const HAPPENING: Readonly<Record<string, ChainStage>> = {
  eth_call: 'simulated',
  eth_estimateGas: 'estimated',
};

interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
}

/**
 * A real chain that mines in its own time and reorganises its newest blocks, behind a node that loses calls and drops transactions. Its
 * transfers are the books outside of the server: those of blocks that were reorganised away, too, until the end, when all must be there.
 */
export async function startOutsideChain(
  random: Random,
  onStage: (stage: ChainStage) => void,
): Promise<Outside & { readonly chain: Chain }> {
  const releases: (() => unknown)[] = [];
  const chain = await startChain({ teardown: (release) => void releases.push(release) });
  const key = await chain.gasKey();
  const node = new FaultyNode(chain.url, random.fork(), onStage);
  const url = await node.listen();
  const miner = new Miner(chain, random.fork(), () => onStage('mined'));
  return {
    chain,
    settings: {
      FACILITATOR: 'self',
      RPC_URL: url,
      GAS_KEY: key,
      GAS_FEE_GWEI_MAX: '1000',
      GAS_COIN_USD: '1',
    },
    provesAdvances: true,
    transfers: miner.transfers,
    begin: async (payers) => {
      for (const payer of payers) await chain.mint(payer, PURSE);
      await miner.start();
    },
    calm: async () => {
      node.isCalm = true;
      return miner.calm();
    },
    counts: () => ({ ...node.counts, reorganised: miner.reorganised, blocks: miner.blocks }),
    close: async () => {
      await miner.stop();
      await node.close();
      for (const release of releases.reverse()) await release();
    },
  };
}

/** Passes calls on, and goes wrong on its own. */
class FaultyNode {
  isCalm = false;
  readonly counts = { sent: 0, dropped: 0, unanswered: 0, underpriced: 0, lost: 0 };
  readonly #chainUrl: string;
  readonly #random: Random;
  readonly #onStage: (stage: ChainStage) => void;
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response).catch(() => request.socket.destroy());
  });

  constructor(chainUrl: string, random: Random, onStage: (stage: ChainStage) => void) {
    this.#chainUrl = chainUrl;
    this.#random = random;
    this.#onStage = onStage;
  }

  async listen(): Promise<string> {
    await new Promise<void>((ready) => this.#server.listen(0, '127.0.0.1', ready));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('');
    const { method, params } = JSON.parse(body) as { method: string; params: [Hex] };
    const say = (reply: object) => void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...reply }));
    const happens = (probability: number) => !this.isCalm && this.#random.hits(probability);
    if (method !== 'eth_sendRawTransaction') {
      if (happens(LOST)) {
        this.counts.lost += 1;
        return void request.socket.destroy();
      }
      const text = await this.#ask(body);
      response.end(text);
      if (HAPPENING[method]) this.#onStage(HAPPENING[method]);
      if (method === 'eth_getTransactionReceipt' && !text.includes('"result":null')) this.#onStage('receipt');
      return;
    }
    this.#onStage('send_in');
    this.counts.sent += 1;
    if (happens(DROPPED)) {
      this.counts.dropped += 1;
      return say({ result: keccak256(params[0]) });
    }
    if (happens(UNDERPRICED)) {
      this.counts.underpriced += 1;
      return say({ error: { code: -32000, message: 'replacement transaction underpriced' } });
    }
    const text = await this.#ask(body);
    this.#onStage('send_out');
    if (!happens(UNANSWERED)) return void response.end(text);
    this.counts.unanswered += 1;
    request.socket.destroy();
  }

  async #ask(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(this.#chainUrl, { method: 'POST', body, headers })).text();
  }
}

/** Makes the chain's blocks, and reads what was transferred in them. */
class Miner {
  readonly transfers = new Map<string, bigint>();
  reorganised = 0;
  blocks = 0;
  readonly #chain: Chain;
  readonly #random: Random;
  readonly #onMined: () => void;
  #isCalm = false;
  #isStopped = false;
  #mining: Promise<void> = Promise.resolve();

  constructor(chain: Chain, random: Random, onMined: () => void) {
    this.#chain = chain;
    this.#random = random;
    this.#onMined = onMined;
  }

  async start(): Promise<void> {
    // No reorganisation reaches the purses.
    await this.#chain.control.mine({ blocks: 2 * REORGANISED_BLOCKS });
    await this.#chain.control.setAutomine(false);
    this.#mining = this.#mine();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#mining;
  }

  /** Reorganises nothing more. @returns faults: transfers that were reorganised away and do not come back */
  async calm(): Promise<string[]> {
    this.#isCalm = true;
    const givingUp = Date.now() + CALM_MS_MAX;
    for (;;) {
      const there = await this.#read('earliest');
      const lost = [...this.transfers.keys()].filter((nonce) => !there.has(nonce));
      if (lost.length === 0) return [];
      if (Date.now() > givingUp) return lost.map((nonce) => `${nonce} was reorganised away and is lost`);
      await after(100);
    }
  }

  async #mine(): Promise<void> {
    while (!this.#isStopped) {
      await after(this.#random.below(MINE_MS_MAX));
      await this.#chain.control.mine({ blocks: 1 });
      this.blocks += 1;
      const mined = await this.#read('latest');
      for (const [nonce, value] of mined) this.transfers.set(nonce, value);
      if (mined.size > 0) this.#onMined();
      if (this.#isCalm || !this.#random.hits(REORGANISED)) continue;
      this.reorganised += 1;
      await this.#chain.control.request({
        method: 'anvil_reorg' as never,
        params: [REORGANISED_BLOCKS, []] as never,
      });
    }
  }

  /** Transfers by their authorization's nonce. */
  async #read(fromBlock: 'earliest' | 'latest'): Promise<Map<string, bigint>> {
    const logs = (await this.#chain.control.request({
      method: 'eth_getLogs' as never,
      params: [{ address: BASE_USDC.address, fromBlock, toBlock: 'latest' }] as never,
    })) as Log[];
    const found = new Map<string, bigint>();
    for (const [at, { topics }] of logs.entries()) {
      // The token logs the transfer right behind the use.
      const transfer = logs[at + 1];
      if (topics[0] === TOPICS.authorizationUsed && transfer)
        found.set(topics[2]!, hexToBigInt(transfer.data));
    }
    return found;
  }
}
