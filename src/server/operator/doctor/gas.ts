import { stat } from 'node:fs/promises';
import { type Asset, escrowOn } from '@farthing/payment/asset';
import { GAS_OF_TRANSFER, type GasState, type Head } from '@farthing/payment/self/gas-state';
import { Nodes } from '@farthing/payment/self/nodes';
import { formatUsd } from '@farthing/protocol/money';
import type { Finding } from '@farthing/protocol/schema/operator';
import { ConfigError } from '../../settings/config.ts';
import type { Settings } from '../../settings/settings.ts';
import { gasStateOf, gasWalletOf } from '../../wiring/open-self.ts';
import { ok, problem, warning } from '../finding.ts';

/** Fewer are a warning: as the alert of deploy/prometheus has it. */
const SETTLEMENTS_LEFT_MIN = 500;

const OTHERS = 0o007;

/** Whether this server can settle itself: its gas wallet and the network's fees. */
export async function gas(settings: Settings, asset: Asset): Promise<Finding[]> {
  const wallet = await gasWalletOf(settings, settings.PAY_TO.toLowerCase()).catch((error: unknown) => {
    if (error instanceof ConfigError) return error.message;
    throw error;
  });
  if (typeof wallet === 'string')
    return [problem('gas wallet', wallet, 'See docs/get-paid.md: a key of its own, in a file.')];
  const state = gasStateOf(settings, asset, new Nodes(settings.RPC_URL, asset), wallet.address);
  let head: Head;
  try {
    head = await state.read();
  } catch (error) {
    return [
      problem(
        'facilitator',
        `self cannot settle: ${(error as Error).message}`,
        'Check FARTHING_RPC_URL and the network.',
      ),
    ];
  }
  const { eth, settlements_left } = state.figures()!;
  const obstacle = state.obstacleAt(head);
  const found = `${wallet.address} has ${eth} ${asset.gas.coin} on ${asset.title}, enough for ${settlements_left} settlements at the present fees`;
  if (obstacle !== undefined)
    return [
      problem(
        'gas wallet',
        obstacle,
        state.fees(head)
          ? `Send ${asset.gas.coin} on ${asset.title} to ${wallet.address}.`
          : 'Wait, or raise FARTHING_GAS_FEE_GWEI_MAX.',
      ),
    ];
  return [
    ...(await keyFile(settings)),
    ok('facilitator', `self settles on ${asset.network} (x402 v1, v2)`),
    settlements_left < SETTLEMENTS_LEFT_MIN
      ? warning(
          'gas wallet',
          found,
          `Send some more ${asset.gas.coin} on ${asset.title} to ${wallet.address}.`,
        )
      : ok('gas wallet', found),
    margins(settings, asset, state, head),
    await channels(settings, asset),
  ];
}

/** Whether buyers can deposit once and buy many times. */
async function channels({ RPC_URL }: Settings, asset: Asset): Promise<Finding> {
  const { address } = escrowOn(asset.network);
  const code = await new Nodes(RPC_URL, asset).first((node) =>
    node.call<string>('eth_getCode', [address, 'latest']),
  );
  return ok(
    'channels',
    code === '0x'
      ? `not offered: ${asset.title} has no escrow for batch-settlement at ${address}`
      : 'buyers may deposit once and buy many times (batch-settlement)',
  );
}

/** What is left of each price at the present fees, and what is not sold because nothing is. */
function margins(settings: Settings, asset: Asset, state: GasState, head: Head): Finding {
  const cost = state.costOf(GAS_OF_TRANSFER, head);
  const { price, source } = head.price;
  const coin = {
    setting: 'by FARTHING_GAS_COIN_USD',
    feed: 'by its feed on the chain',
    assumed: 'assumed, as no feed tells it',
  };
  const counted = source === 'testnet' ? 'worth nothing' : `at ${Number(price) / 1e8} USD, ${coin[source]}`;
  const sold = [
    ['search', settings.SEARCH_PRICE_USD],
    ['upload', settings.INGEST_PRICE_USD],
    ['item', settings.ITEM_PRICE_USD],
    ['workspace of a minute', settings.WORKSPACE_BASE_USD + settings.WORKSPACE_MINUTE_USD],
  ] as const;
  const left = sold.map(([what, amount]) => `${what} ${formatUsd(amount - cost)}`).join(', ');
  const found = `a settlement's gas costs ${formatUsd(cost)} USD now (${asset.gas.coin} ${counted}); left of the price: ${left}`;
  const tooDear = sold.filter(([, amount]) => state.tooDear(amount, GAS_OF_TRANSFER, head) !== undefined);
  if (tooDear.length > 0)
    return warning(
      'margin',
      `${found}. Not sold for coins on the chain: ${tooDear.map(([what]) => what).join(', ')}`,
      'Wait for lower fees, raise these prices, or let buyers prepay (FARTHING_PREPAID_USD_MAX).',
    );
  return source === 'assumed'
    ? warning('margin', found, `Set FARTHING_GAS_COIN_USD to the price of ${asset.gas.coin}.`)
    : ok('margin', found);
}

/** Any program of the machine could spend the gas. */
async function keyFile({ GAS_KEY_FILE }: Settings): Promise<Finding[]> {
  if (GAS_KEY_FILE === '' || ((await stat(GAS_KEY_FILE)).mode & OTHERS) === 0) return [];
  return [
    warning(
      'gas key',
      `every user of this machine may read ${GAS_KEY_FILE}`,
      `chmod 600 ${GAS_KEY_FILE}, owned by the user that the server runs as.`,
    ),
  ];
}
