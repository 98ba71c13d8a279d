import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import { askServer } from '../running/operator-socket.ts';
import type { PrepaidSums } from '../running/prepaid.ts';
import type { ShownRefund } from '../running/refunds.ts';

/** Writes a line for each requested refund: id, wallet, US dollars, when, and the transaction or `due`. */
export async function listPrepaid(io: CommandIo): Promise<number> {
  const sums = await askServer<PrepaidSums>(dataFolder(io), 'GET', '/prepaid');
  for (const { id, payer, usd, asked_at, transaction } of sums.refunds)
    io.write(`${[id, payer, usd.padStart(9), asked_at, transaction ?? 'due'].join('  ')}\n`);
  io.explain(
    `${sums.wallets} wallets have ${sums.left_usd} USD prepaid; ${sums.due_usd} USD of refunds are due.`,
  );
  return EXIT.done;
}

/** Notes the transaction that paid a refund back, once the server's nodes show it. */
export function notePrepaidRefund(id: string, transaction: string, io: CommandIo): Promise<number> {
  return noteRefund(['prepaid', id], transaction, io);
}

/** The same of any other payment, by its payer and nonce. */
export function notePaymentRefund(
  payment: { readonly payer: string; readonly nonce: string },
  transaction: string,
  io: CommandIo,
): Promise<number> {
  return noteRefund(['ledger', payment.payer, payment.nonce], transaction, io);
}

async function noteRefund(path: readonly string[], transaction: string, io: CommandIo): Promise<number> {
  const query = `transaction=${encodeURIComponent(transaction)}`;
  const { block } = await askServer<ShownRefund>(
    dataFolder(io),
    'POST',
    `/${path.map(encodeURIComponent).join('/')}?${query}`,
  );
  const proof = block === null ? 'No node (FARTHING_RPC_URL) was asked.' : `Block ${block} has the transfer.`;
  io.explain(`${path.at(-1)} is refunded. ${proof}`);
  return EXIT.done;
}
