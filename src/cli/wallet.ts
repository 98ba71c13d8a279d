import { stat, writeFile } from 'node:fs/promises';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { configFile, makeFolder, readJson } from './folders.ts';
import { EXIT, type Io, UsageError } from './io.ts';

const FILE_MODE = 0o600;
const OTHERS = 0o077;

interface KeyFile {
  readonly address: string;
  readonly private_key: `0x${string}`;
}

const pathOf = (io: Io) => io.environment.FARTHING_WALLET || configFile(io, 'wallet.json');

/** `wallet new` and `wallet show`. The key is written to its file and never printed. */
export async function walletCommand(words: readonly string[], io: Io, json: boolean): Promise<number> {
  const [verb, ...rest] = words;
  if (rest.length > 0 || (verb !== 'new' && verb !== 'show'))
    throw new UsageError('Use wallet new or wallet show.');
  const path = pathOf(io);
  if (verb === 'new') await create(path);
  const account = await openWallet(io);
  if (!account) throw new Error(`There is no wallet in ${path}: make one with "farthing wallet new".`);
  io.write(json ? `${JSON.stringify({ address: account.address, file: path })}\n` : `${account.address}\n`);
  if (!json && io.errColumns) io.explain(`Its key is in ${path}. Send it dollars (USDC) to pay with.\n`);
  return EXIT.done;
}

async function create(path: string): Promise<void> {
  const private_key = generatePrivateKey();
  const file: KeyFile = { address: privateKeyToAccount(private_key).address, private_key };
  await makeFolder(path);
  // Never over an existing key: its money would be lost.
  await writeFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: FILE_MODE, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new Error(`There is a wallet in ${path} already.`) : error;
    },
  );
}

/** The account of the key file; undefined without one. @throws when others may read it */
export async function openWallet(io: Io): Promise<PrivateKeyAccount | undefined> {
  const path = pathOf(io);
  const file = await readJson<KeyFile>(path);
  if (!file) return undefined;
  if (((await stat(path)).mode & OTHERS) !== 0)
    throw new Error(`Others may read the key in ${path}: chmod 600 it first.`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(file.private_key)) throw new Error(`${path} holds no private key.`);
  return privateKeyToAccount(file.private_key);
}
