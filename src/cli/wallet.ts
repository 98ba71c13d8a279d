import { writeFile } from 'node:fs/promises';
import { makeFolder } from './access/folders.ts';
import { type KeyFile, openWallet, walletMissing, walletPath } from './access/key-file.ts';
import { EXIT, type Io } from './terminal/io.ts';
import { say } from './terminal/say.ts';
import type { Call } from './words/specs.ts';

const FILE_MODE = 0o600;

/** `wallet new`: the key is written to its file and never printed. */
export async function walletNew({ values }: Call<'wallet new'>, io: Io): Promise<number> {
  const { generatePrivateKey, privateKeyToAddress } = await import('./access/keys.ts');
  const path = walletPath(io);
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
  show(walletPath(io), account.address, values.json, io);
  return EXIT.done;
}

function show(path: string, address: string, json: boolean, io: Io): void {
  io.write(json ? `${JSON.stringify({ address, file: path })}\n` : `${address}\n`);
  if (!json) say(io, `Its key is in ${path}: keep it secret.`);
}
