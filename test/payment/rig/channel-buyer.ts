import { toClientEvmSigner } from '@x402/evm';
import {
  BatchSettlementEvmScheme,
  type BatchSettlementEvmSchemeOptions,
} from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { base } from 'viem/chains';

/** The published client of x402's batch-settlement, unchanged, on one wallet. @param node of the chain */
export function channelBuyer(
  account: PrivateKeyAccount,
  node: string,
  options: BatchSettlementEvmSchemeOptions = {},
) {
  const reader = createPublicClient({ chain: base, transport: http(node) });
  const scheme = new BatchSettlementEvmScheme(toClientEvmSigner(account, reader as never), options);
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:8453', client: scheme }],
    spendControls: { maxAmountPerPayment: '$10' },
  });
  return { scheme, pay };
}
