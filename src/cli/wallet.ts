import { stat, writeFile } from 'node:fs/promises';
import { FarthingError, type PaymentAccount } from '../client/index.ts';
import { configFile, makeFolder, readJson } from './folders.ts';
import { EXIT, type Io } from './io.ts';
import type { Call } from './specs.ts';
import { say } from './terminal/say.ts';

const FILE_MODE = 0o600;
const OTHERS = 0o077;

interface KeyFile {
  readonly address: `0x${string}`;
  readonly private_key: `0x${string}`;
}

const pathOf = (io: Io) => io.environment.FARTHING_WALLET || configFile(io, 'wallet.json');

/** `wallet new`: the key is written to its file and never printed. */
export async function walletNew({ values }: Call<'wallet new'>, io: Io): Promise<number> {
  const { generatePrivateKey, privateKeyToAddress } = await import('viem/accounts');
  const path = pathOf(io);
  const private_key = generatePrivateKey();
  const file: KeyFile = { address: privateKeyToAddress(private_key), private_key };
  await makeFolder(path);
  // Never over an existing key: its money would be lost.
  await writeFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: FILE_MODE, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST'
        ? new Error(`There is a wallet already, in ${path}: farthing wallet show. It was left as it is.`)
        : error;
    },
  );
  show(path, file.address, values.json, io);
  if (!values.json && io.err)
    say(io, 'Where servers use play money it can pay at once; elsewhere send it dollars (USDC).');
  return EXIT.done;
}

/** `wallet show` */
export async function walletShow({ values }: Call<'wallet show'>, io: Io): Promise<number> {
  const account = await openWallet(io);
  if (!account) throw walletMissing();
  show(pathOf(io), account.address, values.json, io);
  return EXIT.done;
}

function show(path: string, address: string, json: boolean, io: Io): void {
  io.write(json ? `${JSON.stringify({ address, file: path })}\n` : `${address}\n`);
  if (!json && io.err) say(io, `Its key is in ${path}: keep it, and show it to nobody.`);
}

export function walletMissing(): FarthingError {
  return new FarthingError('wallet_missing', 'There is no wallet yet: "farthing wallet new" makes one.');
}

/** The account of the key file; undefined without one. What signs is loaded when something is signed. @throws when others may read it */
export async function openWallet(io: Io): Promise<PaymentAccount | undefined> {
  const path = pathOf(io);
  const file = await readJson<KeyFile>(path);
  if (!file) return undefined;
  if (((await stat(path)).mode & OTHERS) !== 0)
    throw new Error(`Others may read the key in ${path}: chmod 600 it first.`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(file.private_key)) throw new Error(`${path} holds no private key.`);
  return {
    address: file.address,
    signTypedData: async (message) => {
      const { privateKeyToAccount } = await import('viem/accounts');
      return privateKeyToAccount(file.private_key).signTypedData(message);
    },
  };
}
