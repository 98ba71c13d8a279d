import { createHash } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';

export const KEY_LENGTH_MIN = 16;
export const KEY_LENGTH_MAX = 128;

/**
 * The idempotency key that a client gave its request, from the `payment-identifier` extension or the `Idempotency-Key` header.
 * @throws idempotency_key_invalid for a wrong length, and for two different ones.
 */
export function readRequestKey(identifier: unknown, header: string | undefined): string | undefined {
  if (identifier !== undefined) assertUsable(identifier, 'The id of the payment-identifier extension');
  if (header !== undefined) assertUsable(header, 'The Idempotency-Key header');
  if (identifier !== undefined && header !== undefined && identifier !== header) {
    throw new FarthingError(
      'idempotency_key_invalid',
      'The Idempotency-Key header and the payment-identifier extension name different keys: send one, or the same twice.',
    );
  }
  return (identifier as string | undefined) ?? header;
}

function assertUsable(key: unknown, what: string): void {
  if (typeof key === 'string' && key.length >= KEY_LENGTH_MIN && key.length <= KEY_LENGTH_MAX) return;
  throw new FarthingError(
    'idempotency_key_invalid',
    `${what} must be a string of ${KEY_LENGTH_MIN} to ${KEY_LENGTH_MAX} unguessable characters.`,
  );
}

/** Keys are per payer, and only their hash is stored: access to the stored state is not enough to ask for an answer with it. */
export function requestKeyHash(payer: Address, key: string): string {
  return createHash('sha256').update(`${payer}\n${key}`).digest('hex');
}
