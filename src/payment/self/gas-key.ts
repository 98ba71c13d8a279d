import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../payment.ts';

/**
 * The wallet that pays the gas. @param key 64 hexadecimal digits, with `0x` or without @param payTo in lower case
 * @throws Error with what to do; nothing of the key is in it
 */
export function gasWallet(key: string, payTo: string): PrivateKeyAccount {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(key) ?? [];
  if (digits === undefined)
    throw new Error('must be a private key: 64 hexadecimal digits. "openssl rand -hex 32" makes one');
  let account: PrivateKeyAccount;
  try {
    account = privateKeyToAccount(`0x${digits.toLowerCase()}` as Hex);
  } catch {
    throw new Error('is not a valid secp256k1 private key. Make another one');
  }
  if (account.address.toLowerCase() === payTo)
    throw new Error(
      'is the key of FARTHING_PAY_TO: make another one. A key on a server pays gas, and can lose no more than that',
    );
  return account;
}
