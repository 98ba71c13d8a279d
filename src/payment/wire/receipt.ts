import type { Address } from '@farthing/protocol/address';
import type { Asset } from '../asset.ts';
import { encodeHeader } from './challenge.ts';

/** A receipt's data about a settlement. */
export interface Settled {
  readonly payer: Address;
  readonly amount: string;
  /** Hash of the transaction; empty when it is only presumed (see `presumed`). */
  readonly transaction: string;
  /** Anything the facilitator wants the client to know; the local one says here that no money moved. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * Both receipt headers, in standard base64: v1 clients read the one, v2 clients the other. The network is named as the client named it.
 * @param extensions of v2
 */
export function receiptHeaders(
  settled: Settled,
  networkName: string,
  extensions?: object,
): Record<string, string> {
  const receipt = {
    success: true,
    transaction: settled.transaction,
    network: networkName,
    payer: settled.payer,
    amount: settled.amount,
    ...(settled.extra && { extra: settled.extra }),
  };
  const plain = encodeHeader(receipt);
  return {
    'X-PAYMENT-RESPONSE': plain,
    'PAYMENT-RESPONSE': extensions ? encodeHeader({ ...receipt, extensions }) : plain,
  };
}

/** The receipt of a settlement that was refused: beside a 402, so that a client knows that it still has its money. */
export function refusalHeaders(payer: Address, reason: string, networkName: string): Record<string, string> {
  const receipt = encodeHeader({
    success: false,
    errorReason: reason,
    transaction: '',
    network: networkName,
    payer,
  });
  return { 'X-PAYMENT-RESPONSE': receipt, 'PAYMENT-RESPONSE': receipt };
}

/** The asset's network in the words of a client that used this name for it. */
export function mirroredNetwork(asset: Asset, networkName: string): string {
  return networkName.toLowerCase() === asset.networkNameV1 ? asset.networkNameV1 : asset.network;
}
