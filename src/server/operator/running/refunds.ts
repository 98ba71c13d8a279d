import type { Asset } from '@farthing/payment/asset';
import type { RpcNode } from '@farthing/payment/facilitator/rpc-node';
import { readTransfers } from '@farthing/payment/facilitator/rpc-witness';
import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import type { Ledger } from '@farthing/payment/records/ledger';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import { formatUsd } from '@farthing/protocol/money';

/** Where refunds are looked for. */
export interface RefundChain {
  readonly asset: Asset;
  readonly nodes: readonly RpcNode[];
}

/** Stores in which refunds are recorded. */
export interface RefundBooks {
  readonly prepaid: readonly PrepaidBalances[];
  readonly ledger: Ledger;
}

/** The chain's evidence of a recorded refund; null without a node. */
export interface ShownRefund {
  readonly block: number | null;
}

/** Money that is to be sent back, or was. */
interface Refund {
  readonly payer: Address;
  readonly amount: bigint;
}

/** A refund to be recorded. */
interface DueRefund extends Refund {
  /** @returns false if another request recorded it first */
  note(transaction: string): Promise<boolean>;
}

/** Notes that the operator has sent prepaid money back. @throws not_found, field_invalid: see `noteRefund` */
export function notePrepaidRefund(
  books: RefundBooks,
  text: string,
  transaction: string,
  chain: RefundChain | undefined,
): Promise<ShownRefund> {
  const id = parseId('prepaid', text);
  const due = books.prepaid
    .flatMap((balances) => [...balances.refunds()].map((refund) => ({ balances, refund })))
    .find(({ refund }) => refund.isDue && refund.id === id);
  if (!due) throw notDue(text);
  const { payer, amount, id: step } = due.refund;
  const note = (hash: string) => due.balances.refunded(step, hash);
  return noteRefund(books, text, { payer, amount, note }, transaction, chain);
}

/** The same of any other payment, by its payer and nonce. @throws not_found, field_invalid: see `noteRefund` */
export async function notePaymentRefund(
  books: RefundBooks,
  { payer: text, nonce }: { readonly payer: string; readonly nonce: string },
  transaction: string,
  chain: RefundChain | undefined,
): Promise<ShownRefund> {
  const payer = text.toLowerCase() as Address;
  const found = await books.ledger.find(payer, nonce.toLowerCase());
  if (!found) throw new FarthingError('not_found', `The ledger has no payment ${nonce} of ${text}.`);
  const { journal, entry } = found;
  if (entry.kind === 'prepaid')
    throw new FarthingError(
      'field_invalid',
      'nonce: it was paid from prepaid money: that is refunded as a whole.',
    );
  if (entry.kind === 'pending')
    throw new FarthingError('field_invalid', 'nonce: the outcome of this payment is not known yet.');
  if (entry.kind === 'refunded') throw notDue(nonce);
  const note = (hash: string) => journal.refund(entry, hash, Date.now());
  return noteRefund(books, nonce, { payer, amount: BigInt(entry.amount), note }, transaction, chain);
}

/**
 * Notes a refund once the chain shows it. One transaction may pay several if it moves the money of all. Without a node a transaction pays
 * for one refund only. @throws not_found, field_invalid
 */
async function noteRefund(
  books: RefundBooks,
  name: string,
  due: DueRefund,
  written: string,
  chain: RefundChain | undefined,
): Promise<ShownRefund> {
  const transaction = written.toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(transaction))
    throw new FarthingError('field_invalid', 'transaction: send its hash, 0x and 64 hexadecimal digits.');
  const paid = paidBy(books, transaction);
  if (!chain && paid.length > 0)
    throw new FarthingError('field_invalid', 'transaction: it is noted for another refund already.');
  const before = paid.filter(({ payer }) => payer === due.payer);
  const owed = [due, ...before].reduce((sum, { amount }) => sum + amount, 0n);
  const shown = chain ? await proveRefund(chain, transaction, due.payer, owed) : { block: null };
  if ('fault' in shown)
    throw new FarthingError('field_invalid', `transaction: ${shown.fault}. Nothing is noted.`);
  if (await due.note(transaction)) return shown;
  throw notDue(name);
}

/** Refunds that are recorded with a transaction. */
function paidBy({ prepaid, ledger }: RefundBooks, transaction: string): Refund[] {
  const ofPrepaid = prepaid.flatMap((balances) => [...balances.refunds()]);
  const ofPayments = ledger.refunds().map((refund) => ({ ...refund, amount: BigInt(refund.amount) }));
  return [...ofPrepaid, ...ofPayments].filter((refund) => refund.transaction === transaction);
}

function notDue(name: string): FarthingError {
  return new FarthingError('not_found', `There is no refund ${name} that is due.`);
}

/** The block of a transaction that paid a wallet as much, or why no node shows one. Never throws. */
export async function proveRefund(
  { asset, nodes }: RefundChain,
  transaction: string,
  payer: Address,
  owed: bigint,
): Promise<{ readonly block: number } | { readonly fault: string }> {
  const troubles: string[] = [];
  for (const node of nodes) {
    try {
      const transfers = await readTransfers(node, asset, transaction);
      const paid = transfers?.filter(({ from, to }) => to === payer && from !== payer) ?? [];
      const value = paid.reduce((sum, transfer) => sum + transfer.value, 0n);
      if (value >= owed) return { block: paid[0]!.block };
      troubles.push(
        transfers
          ? `it moved ${formatUsd(value)} ${asset.symbol} to ${payer}, not ${formatUsd(owed)}`
          : 'it is in no block yet',
      );
    } catch (error) {
      troubles.push((error as Error).message);
    }
  }
  return { fault: troubles.join('; ') };
}
