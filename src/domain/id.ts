import { randomBytes } from 'node:crypto';

export type IdPrefix = 'ws' | 'item' | 'job' | 'req' | 'up';

/** A new identifier: a recognisable prefix and 128 random bits in hexadecimal. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(16).toString('hex')}`;
}

/** True for a string that `newId(prefix)` could have made. */
export function isId(prefix: IdPrefix, value: string): boolean {
  return (
    value.length === prefix.length + 33 &&
    value.startsWith(`${prefix}_`) &&
    /^[0-9a-f]{32}$/.test(value.slice(prefix.length + 1))
  );
}

/** Tenant of a payer: its wallet address, lower case. */
export function payerTenantId(address: string): string {
  return `payer_${address.toLowerCase()}`;
}
