import { join } from 'node:path';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { ConfigError } from '@farthing/server/settings/config';
import { secretOf } from '@farthing/server/settings/secrets';
import type { Settings } from '@farthing/server/settings/settings';
import { openStore } from '@farthing/server/state/store';
import type { Asset } from '../asset.ts';
import type { ChainWitness } from '../facilitator/chain-witness.ts';
import type { SignatureCheck } from '../signature.ts';
import { gasWallet } from './gas-key.ts';
import { GasState } from './gas-state.ts';
import { Nodes } from './nodes.ts';
import { SelfSettler } from './self-settler.ts';
import { SignedTransfers } from './signed-transfers.ts';
import { type Paces, Transactions } from './transactions.ts';

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

/** Opens it, and takes up what the last process signed. The caller holds the data folder's lock. @throws ConfigError for a key that cannot be used */
export async function openSelf(options: SelfOptions): Promise<Self> {
  const { settings, data, asset, payTo, signatures, witness, clock, paces, log } = options;
  const wallet = await gasWalletOf(settings, payTo);
  const nodes = new Nodes(settings.RPC_URL, asset);
  const feeMax = settings.GAS_FEE_GWEI_MAX;
  const gas = new GasState({ nodes, address: wallet.address.toLowerCase() as Address, feeMax });
  const store = openStore(join(data, FOLDER, String(asset.chainId)));
  const transactions = new Transactions({
    rows: new SignedTransfers(store),
    wallet,
    asset,
    nodes,
    gas,
    witness,
    feeMax,
    blocks: settings.SETTLEMENT_BLOCKS,
    ...(paces && { paces }),
    log,
  });
  return {
    settler: new SelfSettler({
      asset,
      payTo,
      signatures,
      nodes,
      witness,
      gas,
      transactions,
      gasMax: BigInt(settings.SETTLEMENT_GAS_MAX),
      clock,
      log,
    }),
    close: async () => {
      await transactions.close();
      await store.close();
    },
  };
}
