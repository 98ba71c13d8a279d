import { formatUsd } from '@farthing/protocol/money';
import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import type { Liabilities } from '../running/liabilities.ts';
import { askServer } from '../running/operator-socket.ts';
import type { ShownRefund } from '../running/refunds.ts';

/** Refunds that are shown: those that are due first. */
const REFUNDS_MAX = 1000;

/** Writes a line for each requested refund: id, wallet, US dollars, when, and the transaction or `due`. */
export async function listPrepaid(io: CommandIo): Promise<number> {
  const { prepaid, refunds } = await askServer<Liabilities>(dataFolder(io), 'GET', '/prepaid');
  const due = refunds.filter(({ transaction }) => transaction === undefined);
  const paid = refunds.filter(({ transaction }) => transaction !== undefined);
  for (const { id, payer, amount, time, transaction = 'due' } of [...due, ...paid].slice(0, REFUNDS_MAX)) {
    const usd = formatUsd(BigInt(amount)).padStart(9);
    io.write(`${[id, payer, usd, new Date(time).toISOString(), transaction].join('  ')}\n`);
  }
  const owed = formatUsd(due.reduce((sum, { amount }) => sum + BigInt(amount), 0n));
  const left = formatUsd(BigInt(prepaid.left));
  io.explain(`${prepaid.wallets} wallets have ${left} USD prepaid; ${owed} USD of refunds are due.`);
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
