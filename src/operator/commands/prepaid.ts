import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import { askServer } from '../running/operator-socket.ts';
import type { NotedRefund, PrepaidSums } from '../running/prepaid.ts';

/** Writes a line for each refund that was asked for: id, wallet, US dollars, when, and the transaction or `due`. */
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
export async function notePrepaidRefund(id: string, transaction: string, io: CommandIo): Promise<number> {
  const path = `/prepaid/${encodeURIComponent(id)}?transaction=${encodeURIComponent(transaction)}`;
  const { block } = await askServer<NotedRefund>(dataFolder(io), 'POST', path);
  const proof = block === null ? 'No node (FARTHING_RPC_URL) was asked.' : `Block ${block} has the transfer.`;
  io.explain(`${id} is refunded. ${proof}`);
  return EXIT.done;
}
