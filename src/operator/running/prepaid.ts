import type { Address } from '../../domain/address.ts';
import { FarthingError } from '../../domain/error.ts';
import { parseId } from '../../domain/id.ts';
import { formatUsd } from '../../domain/money.ts';
import type { Asset } from '../../payment/asset.ts';
import type { RpcNode } from '../../payment/facilitator/rpc-node.ts';
import { readTransfers } from '../../payment/facilitator/rpc-witness.ts';
import type { PrepaidBalances } from '../../payment/prepaid/balances.ts';

/** Prepaid money of all wallets, for the operator: what is owed. */
export interface PrepaidSums {
  readonly wallets: number;
  readonly left_usd: string;
  readonly due_usd: string;
  readonly refunds: readonly {
    readonly id: string;
    readonly payer: string;
    readonly usd: string;
    readonly asked_at: string;
    readonly transaction: string | null;
  }[];
}

/** Refunds that are shown at once; those that are due come first. */
const REFUNDS_MAX = 1000;

/** What is left in all balances, and the refunds that were asked for. */
export function prepaidSums(all: readonly PrepaidBalances[]): PrepaidSums {
  const accounts = all.flatMap((balances) => [...balances.accounts()]);
  const refunds = all.flatMap((balances) => [...balances.refunds()]);
  const due = refunds.filter(({ isDue }) => isDue);
  const sum = (amounts: readonly bigint[]) =>
    formatUsd(amounts.reduce((total, amount) => total + amount, 0n));
  return {
    wallets: accounts.filter(({ left }) => left > 0n).length,
    left_usd: sum(accounts.map(({ left }) => left)),
    due_usd: sum(due.map(({ amount }) => amount)),
    refunds: [...due, ...refunds.filter(({ isDue }) => !isDue)]
      .slice(0, REFUNDS_MAX)
      .map(({ id, payer, amount, time, transaction }) => ({
        id,
        payer,
        usd: formatUsd(amount),
        asked_at: new Date(time).toISOString(),
        transaction: transaction ?? null,
      })),
  };
}

/** Where refunds are looked for. */
export interface RefundChain {
  readonly asset: Asset;
  readonly nodes: readonly RpcNode[];
}

/** What the chain shows of a noted refund; null where no node is there to be asked. */
export interface NotedRefund {
  readonly block: number | null;
}

/**
 * Notes that the operator has sent the money back, once the chain shows it. One transaction may pay several refunds if it moves the money
 * of all. Without a node a transaction pays for one refund only. @throws not_found, field_invalid
 */
export async function noteRefund(
  all: readonly PrepaidBalances[],
  text: string,
  written: string,
  chain: RefundChain | undefined,
): Promise<NotedRefund> {
  const transaction = written.toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(transaction))
    throw new FarthingError('field_invalid', 'transaction: send its hash, 0x and 64 hexadecimal digits.');
  const id = parseId('prepaid', text);
  const refunds = all.flatMap((balances) => [...balances.refunds()]);
  const due = refunds.find((refund) => refund.isDue && refund.id === id);
  if (!due) throw new FarthingError('not_found', `There is no refund ${text} that is due.`);
  const paidBy = refunds.filter((refund) => refund.transaction === transaction);
  if (!chain && paidBy.length > 0)
    throw new FarthingError('field_invalid', `transaction: it is noted for ${paidBy[0]!.id} already.`);
  const before = paidBy.filter(({ payer }) => payer === due.payer);
  const owed = [due, ...before].reduce((sum, { amount }) => sum + amount, 0n);
  const block = chain ? await proveRefund(chain, transaction, due.payer, owed) : null;
  for (const balances of all) if (await balances.refunded(due.id, transaction)) return { block };
  throw new FarthingError('not_found', `There is no refund ${text} that is due.`);
}

/** @returns the transaction's block @throws field_invalid when no node shows that it paid the wallet as much */
async function proveRefund(
  { asset, nodes }: RefundChain,
  transaction: string,
  payer: Address,
  owed: bigint,
): Promise<number> {
  const troubles: string[] = [];
  for (const node of nodes) {
    try {
      const transfers = await readTransfers(node, asset, transaction);
      const paid = transfers?.filter(({ from, to }) => to === payer && from !== payer) ?? [];
      const value = paid.reduce((sum, transfer) => sum + transfer.value, 0n);
      if (value >= owed) return paid[0]!.block;
      troubles.push(
        transfers
          ? `it moved ${formatUsd(value)} ${asset.symbol} to ${payer}, not ${formatUsd(owed)}`
          : 'it is in no block yet',
      );
    } catch (error) {
      troubles.push((error as Error).message);
    }
  }
  throw new FarthingError('field_invalid', `transaction: ${troubles.join('; ')}. Nothing is noted.`);
}
