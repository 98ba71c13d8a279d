import { type Asset, assetOn } from '@farthing/payment/asset';
import type { FacilitatorAddress } from '@farthing/payment/facilitator/facilitator-client';
import { SELF } from '@farthing/payment/facilitator/facilitators';
import { exchangeJson } from '@farthing/payment/facilitator/json-http';
import {
  offeredNetworks,
  readSupported,
  requestBody,
  unsupported,
} from '@farthing/payment/facilitator/messages';
import { PROBE_TERMS, probeFault, probePayment } from '@farthing/payment/facilitator/probe';
import { RpcNode, RpcRefusal } from '@farthing/payment/facilitator/rpc-node';
import { BLOCKS_FIRST } from '@farthing/payment/facilitator/rpc-witness';
import { payToFault } from '@farthing/payment/pay-to';
import { ownMember } from '@farthing/payment/wire/strict-json';
import type { Address } from '@farthing/protocol/address';
import type { Finding } from '@farthing/protocol/schema/operator';
import { groupOf, type Settings } from '../../settings/settings.ts';
import { facilitatorAddresses } from '../../wiring/facilitator-addresses.ts';
import { ok, problem, warning } from '../finding.ts';

/** For both calls to a facilitator together. */
const DEADLINE_MS = 4500;
/** As a server's own payments have it. */
const MAX_TIMEOUT_SECONDS = 300;
/** Authorizations are valid for minutes: with a larger offset, valid ones look too early or too late. */
const CLOCK_OFFSET_S_MAX = 10;
/** A block of Base comes every two seconds. */
const BLOCK_AGE_S_MAX = 60;

/** Findings that would stop a sale, checked through the server's own client: it follows no redirect, and sends the keys of the settings. */
export async function sales(settings: Settings): Promise<Finding[]> {
  const asset = assetOn(settings.NETWORK);
  if (settings.FACILITATOR.length === 0)
    return [
      ...(settings.PAY_TO === '' ? [] : [await payTo(settings, asset)]),
      warning(
        'facilitator',
        'the local one: play money, no money moves',
        'Set FARTHING_FACILITATOR and FARTHING_PAY_TO to be paid (docs/get-paid.md).',
      ),
      ok('clock', 'not compared: there is no facilitator to compare it with'),
    ];
  const addresses = await facilitatorAddresses(settings);
  const paid = await payTo(settings, asset);
  // At once: nobody waits longer than for the slowest.
  const found = await Promise.all([
    [paid],
    settings.FACILITATOR.includes(SELF) ? import('./gas.ts').then(({ gas }) => gas(settings, asset)) : [],
    ...addresses.map((address) => facilitator(address, settings, asset)),
    nodes(settings, asset),
  ]);
  return found.flat();
}

async function payTo({ PAY_TO }: Settings, asset: Asset): Promise<Finding> {
  const fault = await payToFault(PAY_TO, asset);
  if (fault !== undefined)
    return problem('pay to', `${PAY_TO}: ${fault}`, 'Set FARTHING_PAY_TO to your wallet.');
  const what = asset.isTestnet ? 'worthless coins' : 'money';
  return ok('pay to', `${PAY_TO} is paid ${asset.symbol} on ${asset.title} (${what})`);
}

async function facilitator(
  { url, authHeaders }: FacilitatorAddress,
  settings: Settings,
  asset: Asset,
): Promise<Finding[]> {
  const terms = {
    payTo: settings.PAY_TO.toLowerCase() as Address,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    service: groupOf(settings, 'service'),
  };
  // Before the deadline begins: what signs it is loaded first.
  const payment = await probePayment(asset, terms, Date.now());
  const until = performance.now() + DEADLINE_MS;
  const ask = async (method: 'GET' | 'POST', call: string, body?: object) => {
    const address = `${url}/${call}`;
    const headers = await authHeaders?.(method, address);
    const deadlineMs = Math.max(1, Math.round(until - performance.now()));
    return exchangeJson(address, { method, body, headers, deadlineMs });
  };
  const sentAt = Date.now();
  const reply = await ask('GET', 'supported');
  if (reply.kind !== 'reply') return [away(url, reply.detail)];
  const supported = readSupported(reply, [asset]);
  const versions = supported?.get(asset.network);
  const told = [supportOf(url, reply, asset, versions), clock(sentAt, reply.header('date'))];
  if (!versions) return told;
  const judged = await ask('POST', 'verify', requestBody(payment, PROBE_TERMS, terms, versions));
  if (judged.kind !== 'reply') return [...told, away(url, `/verify: ${judged.detail}`)];
  const fault = probeFault(judged, payment);
  if (fault !== undefined)
    return [...told, problem('verification', `${url}: ${fault}`, remedyFor(judged, asset))];
  if (ownMember(judged.body, 'isValid') === true)
    return [
      ...told,
      warning(
        'verification',
        `${url} calls a payment good whose wallet has no money`,
        'Name another facilitator, or set FARTHING_RPC_URL and FARTHING_CONFIRM_SETTLEMENTS=1: it cannot be believed.',
      ),
    ];
  return [...told, ok('verification', `${url} verifies: a payment without money was refused`)];
}

const away = (url: string, detail: string) =>
  problem(
    'facilitator',
    `${url} cannot be reached: ${detail}`,
    'Check FARTHING_FACILITATOR and the network.',
  );

type Reply = Parameters<typeof readSupported>[0];

function supportOf(
  url: string,
  reply: Reply,
  asset: Asset,
  versions: readonly number[] | undefined,
): Finding {
  if (versions)
    return ok(
      'facilitator',
      `${url} settles on ${asset.network} (x402 ${versions.map((version) => `v${version}`).join(', ')})`,
    );
  if (readSupported(reply, [asset]))
    return problem(
      'facilitator',
      `${url} settles on ${offeredNetworks(reply)}, not on ${asset.network}`,
      'Name another facilitator, or set FARTHING_NETWORK.',
    );
  return problem('facilitator', `${url}: ${unsupported(reply)}`, remedyFor(reply, asset));
}

/** What to do about an answer that stops sales. */
function remedyFor({ status, body }: Reply, asset: Asset): string {
  if (status === 401 || status === 403)
    return 'Check the key of this facilitator: FARTHING_CDP_KEY_SECRET_FILE, FARTHING_PAYAI_KEY_SECRET, or FARTHING_FACILITATOR_HEADER; and the clock.';
  if (status === 429)
    return 'Wait, take a plan with more calls, or name a second facilitator: FARTHING_FACILITATOR=one,other.';
  if (status >= 300 && status < 400)
    return 'Write the address that it leads to into FARTHING_FACILITATOR, without /supported.';
  if (status >= 500)
    return 'This is trouble of the facilitator: ask who runs it, or name a second one: FARTHING_FACILITATOR=one,other.';
  if (ownMember(body, 'isValid') === false)
    return `Name a facilitator that takes ${asset.symbol} on ${asset.title}, or set FARTHING_NETWORK and FARTHING_PAY_TO.`;
  return 'Check the address in FARTHING_FACILITATOR: /verify, /settle and /supported are below it, and no web page or proxy in front of it.';
}

/** The Date header has whole seconds and was written between the request and now. */
function clock(sentAt: number, date = ''): Finding {
  const theirs = Date.parse(date);
  if (Number.isNaN(theirs)) return ok('clock', 'not compared: the facilitator tells no time');
  const offset = Math.round(((sentAt + Date.now()) / 2 - theirs - 500) / 1000);
  const found = `${offset} s from the facilitator's`;
  return Math.abs(offset) <= CLOCK_OFFSET_S_MAX
    ? ok('clock', found)
    : problem('clock', found, 'Turn on time synchronisation (timedatectl set-ntp true).');
}

async function nodes({ RPC_URL }: Settings, asset: Asset): Promise<Finding[]> {
  if (RPC_URL.length === 0)
    return [
      warning(
        'chain',
        'no node: the facilitator is believed',
        'Set FARTHING_RPC_URL to a node of the chain; a free plan is enough.',
      ),
    ];
  return (await Promise.all(RPC_URL.map((url) => inTime(url, node(url, asset))))).flat();
}

/** A node that answers each call late is one that does not answer. */
async function inTime(url: string, looking: Promise<Finding[]>): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    const found = `${new URL(url).host}: no answer within ${DEADLINE_MS} ms`;
    timer = setTimeout(() => resolve([problem('chain', found, 'Check FARTHING_RPC_URL.')]), DEADLINE_MS);
  });
  return Promise.race([looking, late]).finally(() => clearTimeout(timer));
}

/** Nothing is shown of the address but its host: paths of nodes often hold a key. */
async function node(url: string, asset: Asset): Promise<Finding[]> {
  const { host } = new URL(url);
  const rpc = new RpcNode(url);
  try {
    const chainId = await rpc.chainId();
    if (chainId !== asset.chainId)
      return [
        problem(
          'chain',
          `${host} is a node of chain ${chainId}, not of ${asset.chainId}`,
          `Name a node of ${asset.title} in FARTHING_RPC_URL, or set FARTHING_NETWORK.`,
        ),
      ];
    if ((await rpc.call<string>('eth_getCode', [asset.address, 'latest'])) === '0x')
      return [problem('chain', `${host} has no ${asset.symbol}`, 'Name another node in FARTHING_RPC_URL.')];
    const block = await rpc.call<{ number: string; timestamp: string }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    const ageS = Math.round(Date.now() / 1000) - Number(block.timestamp);
    return [chainClock(host, ageS), await blocks(rpc, host, asset, { number: BigInt(block.number), ageS })];
  } catch (error) {
    return [problem('chain', `${host}: ${(error as Error).message}`, 'Check FARTHING_RPC_URL.')];
  }
}

/** A block cannot be from the future. */
function chainClock(host: string, ageS: number): Finding {
  const found = `the newest block of ${host} is ${ageS} s old by this clock`;
  if (ageS < -CLOCK_OFFSET_S_MAX)
    return problem(
      'clock of the chain',
      `this clock is ${-ageS} s behind the newest block of ${host}`,
      'Turn on time synchronisation (timedatectl set-ntp true).',
    );
  if (ageS > BLOCK_AGE_S_MAX)
    return problem(
      'clock of the chain',
      found,
      'The node is behind, or the clock is wrong: timedatectl set-ntp true, or another node.',
    );
  return ok('clock of the chain', found);
}

/** Whether a node shows its log. */
async function blocks(
  rpc: RpcNode,
  host: string,
  asset: Asset,
  { number, ageS }: { number: bigint; ageS: number },
): Promise<Finding> {
  const [readable, refusal] = await logs(rpc, asset, number);
  if (readable === 0n)
    return warning(
      'chain',
      `${host} refuses to show its log (${refusal}): a used nonce counts as settled, without its transaction`,
      'Use a plan with eth_getLogs, or name a second node in FARTHING_RPC_URL.',
    );
  return ok('chain', `${host}: block ${number}, ${ageS} s old; its log in looks of ${readable} blocks`);
}

/** Blocks that one look at the log may have, up to those of a first look; 0n with the reason when none. */
async function logs(rpc: RpcNode, { address }: Asset, newest: bigint): Promise<[bigint, string]> {
  let refusal = '';
  for (let blocks = BLOCKS_FIRST; blocks > 0n; blocks /= 2n) {
    const fromBlock = newest >= blocks ? newest - blocks + 1n : 0n;
    // A topic that no event has: the answer is small.
    const topics = [`0x${'0'.repeat(63)}1`];
    const range = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${newest.toString(16)}` };
    try {
      await rpc.call('eth_getLogs', [{ address, ...range, topics }]);
      return [blocks, refusal];
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error;
      refusal = error.message;
    }
  }
  return [0n, refusal];
}
