import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openReceiptSigner, readPublishedKeys, verifyReceipt } from '../../workspace/disposal/receipt.ts';
import { whileStopped } from '../backup/stopped-backup.ts';
import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import { askServer } from '../running/operator-socket.ts';

/**
 * Checks a disposal receipt and writes its claims.
 * @param file path of a receipt, or of the JSON answer that holds it; `-`: the standard input
 * @param keysFile path of a saved `/.well-known/jwks.json`; undefined: the keys in the data folder
 * @throws Error when the receipt is not valid
 */
export async function verifyReceiptFile(
  file: string,
  keysFile: string | undefined,
  io: CommandIo,
): Promise<number> {
  const content = (file === '-' ? await io.input() : await readFile(file, 'utf8')).trim();
  const keys = keysFile
    ? JSON.parse(await readFile(keysFile, 'utf8'))
    : await readPublishedKeys(join(dataFolder(io), 'keys'));
  if (!keys)
    throw new Error(`There are no keys in ${dataFolder(io)}: name a file saved from /.well-known/jwks.json.`);
  const check = await verifyReceipt(content.startsWith('{') ? receiptOf(content) : content, keys);
  if (!check.valid) throw new Error(`The receipt is not valid: ${check.reason}`);
  io.write(`${JSON.stringify(check.claims, null, 2)}\n`);
  io.explain(`The receipt is valid; it was signed with the key ${check.kid}.`);
  return EXIT.done;
}

/** Writes the id of the new key. A running server writes its own keys; a stopped one's folder is locked for it. */
export async function rotateKeys(io: CommandIo): Promise<number> {
  const data = dataFolder(io);
  const rotated = await whileStopped(data, async () =>
    (await openReceiptSigner(join(data, 'keys'))).rotate(),
  );
  const kid = rotated ?? (await askServer<{ kid: string }>(data, 'POST', '/keys')).kid;
  io.write(`${kid}\n`);
  return EXIT.done;
}

function receiptOf(answer: string): string {
  const { receipt } = JSON.parse(answer) as { receipt?: unknown };
  if (typeof receipt !== 'string') throw new Error('There is no "receipt" in this JSON object.');
  return receipt;
}
