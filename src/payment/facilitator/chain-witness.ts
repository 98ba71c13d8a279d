import type { Payment } from '../payment.ts';
import type { Settlement } from './facilitator.ts';
import { faultOf } from './reasons.ts';

/** State of an authorization on the chain. */
export type Sighting =
  | {
      readonly kind: 'settled';
      readonly transaction: string;
      /** Why the transaction that used the nonce could not be found: the transaction is empty then, and counts as ours. */
      readonly unread?: string;
    }
  /** The nonce is used, and the log, which can be read, shows no transaction that used it: a node that is behind, or one that lies. */
  | {
      readonly kind: 'unexplained';
      /** Time of the newest block, in seconds since the epoch. */
      readonly chainTimeS: bigint;
      /** The log was read back to before the payment can have come. */
      readonly isComplete: boolean;
    }
  /** Cancelled, or used to pay another recipient or amount. */
  | { readonly kind: 'used_otherwise' }
  | {
      readonly kind: 'unused';
      /** Time of the block that shows it, in seconds since the epoch. */
      readonly chainTimeS: bigint;
      /** The payer's balance in the same block, in the asset's smallest unit. */
      readonly balance: bigint;
    };

/** Looks on the chain itself whether an authorization was used, and by which transaction. */
export interface ChainWitness {
  /** @param hint the settlement's transaction as the facilitator reported it. @throws when the chain cannot be asked. */
  look(payment: Payment, hint?: string): Promise<Sighting>;
  /** Whether the payer has code, which judges its signatures. Absent: cannot be determined. @throws when the chain cannot be asked */
  isContract?(payment: Payment): Promise<boolean>;
}

/** Blocks after the end of an authorization that are waited for: a node may be behind, and a block may be replaced. */
export const CHAIN_LAG_S = 60n;

/**
 * The settlement outcome that a sighting proves. An unused authorization can still be used until its window ends by the chain's own time,
 * so it proves nothing before.
 * @param refusalReason the facilitator's reason for a refusal, which counts when the chain shows the same
 * @returns undefined when it proves nothing
 */
export function provenBy(
  seen: Sighting | undefined,
  payment: Payment,
  refusalReason?: string,
): Settlement | { readonly kind: 'absent' } | undefined {
  switch (seen?.kind) {
    case undefined:
      return undefined;
    case 'settled':
      return {
        kind: 'settled',
        transaction: seen.transaction,
        ...(seen.unread !== undefined && { unproven: true }),
      };
    case 'used_otherwise':
      return { kind: 'refused', reason: 'authorization_already_used' };
    case 'unexplained':
      // A log that is behind for as long shows nothing any more. One that is read in pieces too small proves nothing.
      if (seen.chainTimeS <= payment.validBefore + CHAIN_LAG_S) return undefined;
      return seen.isComplete
        ? { kind: 'refused', reason: 'authorization_already_used' }
        : { kind: 'settled', transaction: '', unproven: true };
    case 'unused':
      if (seen.chainTimeS > payment.validBefore + CHAIN_LAG_S) return { kind: 'absent' };
      if (
        refusalReason !== undefined &&
        faultOf(refusalReason) === 'insufficient_funds' &&
        seen.balance < payment.value
      )
        return { kind: 'refused', reason: refusalReason };
      return undefined;
    default:
      return seen satisfies never;
  }
}

/** Why an unsettled payment cannot be settled, according to the chain; undefined where the chain shows no reason. */
export function refusedBy(seen: Sighting | undefined, { value }: Payment): string | undefined {
  if (seen?.kind === 'unused') return seen.balance < value ? 'insufficient_funds' : undefined;
  return seen && 'authorization_already_used';
}
