import type { Asset } from './asset.ts';

/**
 * Problem of an address that is to be paid, and what to do; undefined when there is none. Mixed case is a checksum (EIP-55) that reveals
 * typing errors.
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
