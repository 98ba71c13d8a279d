import { stat } from 'node:fs/promises';
import type { Asset } from '@farthing/payment/asset';
import { GasState, type Head } from '@farthing/payment/self/gas-state';
import { Nodes } from '@farthing/payment/self/nodes';
import { gasWalletOf } from '@farthing/payment/self/open-self';
import type { Address } from '@farthing/protocol/address';
import type { Finding } from '@farthing/protocol/schema/operator';
import { ConfigError } from '../../settings/config.ts';
import type { Settings } from '../../settings/settings.ts';
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
  const state = new GasState({
    nodes: new Nodes(settings.RPC_URL, asset),
    address: wallet.address.toLowerCase() as Address,
    feeMax: settings.GAS_FEE_GWEI_MAX,
  });
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
  const found = `${wallet.address} has ${eth} ETH on ${asset.title}, enough for ${settlements_left} settlements at the present fees`;
  if (obstacle !== undefined)
    return [
      problem(
        'gas wallet',
        obstacle,
        state.fees(head)
          ? `Send ETH on ${asset.title} to ${wallet.address}.`
          : 'Wait, or raise FARTHING_GAS_FEE_GWEI_MAX.',
      ),
    ];
  return [
    ...(await keyFile(settings)),
    ok('facilitator', `self settles on ${asset.network} (x402 v1, v2)`),
    settlements_left < SETTLEMENTS_LEFT_MIN
      ? warning('gas wallet', found, `Send some more ETH on ${asset.title} to ${wallet.address}.`)
      : ok('gas wallet', found),
  ];
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
