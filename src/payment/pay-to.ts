import type { Asset } from './asset.ts';

/**
 * What is wrong with an address that is to be paid, and what to do; undefined when nothing is. Upper and lower case together are a
 * checksum (EIP-55): a slip in one of them shows.
 */
export async function payToFault(address: string, asset: Asset): Promise<string | undefined> {
  const lower = address.toLowerCase();
  if (/^0x0{40}$/.test(lower)) return 'nobody has the key of the zero address: name your wallet';
  if (lower === asset.address)
    return `this is the contract of ${asset.symbol} itself, and money sent there is lost: name your wallet`;
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return undefined;
  const { getAddress } = await import('viem');
  return getAddress(lower) === address
    ? undefined
    : 'its upper and lower case do not fit (EIP-55): a digit is wrong. Copy the address from the wallet again';
}
