import { join } from 'node:path';
import type { Asset } from '@farthing/payment/asset';
import type { ChainWitness } from '@farthing/payment/facilitator/chain-witness';
import { Barred } from '@farthing/payment/self/barred';
import { PRICE_UNITS_PER_USD } from '@farthing/payment/self/coin-price';
import { Escrow } from '@farthing/payment/self/escrow';
import { gasWallet } from '@farthing/payment/self/gas-key';
import { GasState } from '@farthing/payment/self/gas-state';
import { Nodes } from '@farthing/payment/self/nodes';
import { SelfSettler } from '@farthing/payment/self/self-settler';
import { SignedTransfers } from '@farthing/payment/self/signed-transfers';
import { PACES, type Paces, Transactions } from '@farthing/payment/self/transactions';
import type { SignatureCheck } from '@farthing/payment/signature';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { ConfigError } from '../settings/config.ts';
import { secretOf } from '../settings/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { openStore } from '../state/store.ts';

export interface SelfOptions {
  readonly settings: Settings;
  /** Absolute path of the data folder. */
  readonly data: string;
  readonly asset: Asset;
  /** Lower case. */
  readonly payTo: Address;
  readonly signatures: SignatureCheck;
  readonly witness: ChainWitness;
  readonly clock: Clock;
  readonly paces?: Partial<Paces>;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** This server as its own facilitator. */
export interface Self {
  readonly settler: SelfSettler;
  readonly escrow: Escrow;
  /** Signed transactions stay where they are: the next start sends them again. */
  close(): Promise<void>;
}

/** In the data folder: what was signed, by chain. */
const FOLDER = 'gas';

/** The wallet that pays the gas, by the settings. @throws ConfigError */
export async function gasWalletOf(settings: Settings, payTo: string) {
  const name = settings.GAS_KEY_FILE === '' ? 'FARTHING_GAS_KEY' : 'FARTHING_GAS_KEY_FILE';
  const key = await secretOf(settings, 'GAS_KEY');
  try {
    return gasWallet(key, payTo);
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`);
  }
}

/** Wei for a unit of gas, by the settings or by the network. */
function feeMaxOf({ GAS_FEE_GWEI_MAX }: Settings, { gas }: Asset): bigint {
  return GAS_FEE_GWEI_MAX || BigInt(Math.round(gas.feeGweiMax * 1e9));
}

/** What gas costs on the network, by the settings. */
export function gasStateOf(settings: Settings, asset: Asset, nodes: Nodes, wallet: string): GasState {
  return new GasState({
    nodes,
    address: wallet.toLowerCase() as Address,
    asset,
    feeMax: feeMaxOf(settings, asset),
    shareMax: settings.GAS_PRICE_SHARE_MAX,
    coinUsd: settings.GAS_COIN_USD * (PRICE_UNITS_PER_USD / 1_000_000n),
  });
}

/** Opens it, and takes up what the last process signed. The caller holds the data folder's lock. @throws ConfigError for a key that cannot be used */
export async function openSelf(options: SelfOptions): Promise<Self> {
  const { settings, data, asset, payTo, signatures, witness, clock, paces, log } = options;
  const wallet = await gasWalletOf(settings, payTo);
  const nodes = new Nodes(settings.RPC_URL, asset);
  const gas = gasStateOf(settings, asset, nodes, wallet.address);
  const store = openStore(join(data, FOLDER, String(asset.chainId)));
  const transactions = new Transactions({
    rows: new SignedTransfers(store),
    wallet,
    asset,
    nodes,
    gas,
    witness,
    feeMax: feeMaxOf(settings, asset),
    blocks: settings.SETTLEMENT_BLOCKS,
    ...(paces && { paces }),
    log,
  });
  const barred = new Barred(clock);
  const gasMax = BigInt(settings.SETTLEMENT_GAS_MAX);
  const both = { asset, payTo, signatures, nodes, witness, gas, transactions, barred, gasMax };
  return {
    escrow: new Escrow({ ...both, wallet }),
    settler: new SelfSettler({
      ...both,
      togetherMax: settings.SETTLED_TOGETHER_MAX,
      gatherMs: paces?.gatherMs ?? PACES.gatherMs,
      clock,
      log,
    }),
    close: async () => {
      await transactions.close();
      await store.close();
    },
  };
}
