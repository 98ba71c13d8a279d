import { payerTenantId } from '@farthing/protocol/id';
import type { Facilitator } from '../facilitator/facilitator.ts';
import type { Effect } from '../purchase.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { PaymentRecord } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import type { Effects } from './effects.ts';
import type { Settlements } from './settlements.ts';

export interface RecoveryDeps {
  readonly records: PaymentRecords;
  readonly settlements: Settlements;
  readonly facilitator: Facilitator;
  readonly effects: Effects;
  readonly answers: AnswerStore;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/**
 * Takes every payment that the last process left half-way to its end. A reservation was never settled (unless the facilitator
 * knows better) and is dropped; a settlement that may have been sent is asked for; an effect that no payment knows is undone.
 */
export async function recoverPayments(deps: RecoveryDeps): Promise<void> {
  const { records, settlements, facilitator, log } = deps;
  const open = records.open();
  await undoOrphans(deps);
  const adopted = [];
  for (const { key, record } of open) {
    if (record.state === 'reserved' && !facilitator.outcomeIsKnowable) await drop(deps, key, record);
    else adopted.push(settlements.adopt(key, record));
  }
  // A remote facilitator may be away: its payments stay pending and are asked for again in the background.
  const attempts = adopted.map((purchase) => settlements.retryNow(purchase));
  if (facilitator.outcomeIsKnowable) await Promise.all(attempts);
  if (open.length > 0)
    log({ level: 'warn', event: 'payments_recovered', open: open.length, pending: settlements.pendingCount });
}

async function drop({ records, answers }: RecoveryDeps, key: string, record: PaymentRecord): Promise<void> {
  await answers.remove(payerTenantId(record.payment.payer), key);
  await records.free(key);
}

/** Effects whose request crashed before its payment's record could name them. */
async function undoOrphans({ records, effects, log }: RecoveryDeps): Promise<void> {
  const known = new Set(
    records.open().flatMap(({ record: { effect } }) => (effect ? [identityOf(effect)] : [])),
  );
  for (const effect of await effects.pending()) {
    if (known.has(identityOf(effect))) continue;
    try {
      await effects.undo(effect);
      log({ level: 'warn', event: 'effect_orphan_undone', kind: effect.kind });
    } catch (error) {
      // Nothing was paid for it. The next start tries again; this one serves all other requests.
      log({ level: 'error', event: 'effect_undo_failed', kind: effect.kind, error });
    }
  }
}

function identityOf({ kind, ref }: Effect): string {
  return JSON.stringify([kind, Object.entries(ref).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
