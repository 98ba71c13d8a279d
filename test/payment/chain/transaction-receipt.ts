import type { Hex, PublicClient, TransactionReceipt } from 'viem';
import { eventually } from '../../rig/eventually.ts';

/**
 * The receipt of a transaction, once it is in a block. viem's own wait asks again when the next block comes; on a busy machine it may see a
 * block before the block's receipts, and where a block is made for each transaction no other comes.
 * @throws after a minute
 */
export async function transactionReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  let receipt: TransactionReceipt | undefined;
  await eventually(async () => {
    receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
    return receipt !== undefined;
  });
  return receipt!;
}
