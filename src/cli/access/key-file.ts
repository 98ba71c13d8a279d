import { stat } from 'node:fs/promises';
import { FarthingError, type PaymentAccount } from '@farthing/client';
import type { Io } from '../terminal/io.ts';
import { configFile, readJson } from './folders.ts';

const OTHERS = 0o077;

export interface KeyFile {
  readonly address: `0x${string}`;
  readonly private_key: `0x${string}`;
}

type Environment = Pick<Io, 'environment'>;

/** @throws for a key in place of the file's path: it is not repeated in the message */
export function walletPath({ environment }: Environment): string {
  const path = environment.FARTHING_WALLET || configFile({ environment }, 'wallet.json');
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(path))
    throw new Error(
      'FARTHING_WALLET is a private key: it names the file that has one, as "farthing wallet new" writes it.',
    );
  return path;
}

export function walletMissing(): FarthingError {
  return new FarthingError('wallet_missing', 'There is no wallet yet: "farthing wallet new" makes one.');
}

/** The account of the key file; undefined without one. The signer is loaded at the first signature. @throws when others may read it */
export async function openWallet(io: Environment): Promise<PaymentAccount | undefined> {
  const path = walletPath(io);
  const file = await readJson<KeyFile>(path);
  if (!file) return undefined;
  if (((await stat(path)).mode & OTHERS) !== 0)
    throw new Error(`Others may read the key in ${path}: chmod 600 it first.`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(file.private_key))
    throw new Error(`${path}: private_key must be 0x and 64 hexadecimal digits.`);
  return {
    address: file.address,
    signTypedData: async (message) => {
      const { privateKeyToAccount } = await import('./keys.ts');
      return privateKeyToAccount(file.private_key).signTypedData(message);
    },
  };
}
