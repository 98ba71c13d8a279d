import type { Address } from '@farthing/protocol/address';
import { HOUR_MS, MINUTE_MS } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { newStepId, type StepId, storedId, type WorkspaceId, workspaceOfStep } from '@farthing/protocol/id';
import { type AtomicAmount, formatUsd } from '@farthing/protocol/money';
import type { Store, Table } from '../../state/store.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import type { PendingStep, Reserve, WorkspacePricing, WorkspaceRecord } from '../workspace.ts';
import type { PendingEffects } from './pending-effects.ts';
import type { WorkspaceRecords } from './records.ts';
import { unusedReserves } from './reserves.ts';
import { unauthorized } from './token.ts';

/** An extension, stored beside the workspace's record. */
export interface Step {
  readonly state: 'pending' | 'committed';
  readonly minutes: number;
  readonly minutesAsked: number | null;
  readonly price: AtomicAmount;
  /** Its minutes go into reserve. */
  readonly reserve?: Pick<Reserve, 'payer' | 'money'>;
}

export interface StepRequest {
  readonly minutes: number;
  readonly minutesAsked: number | null;
  readonly price: AtomicAmount;
  /** The wallet that pays for it. */
  readonly payer: Address;
  /** Minutes for the reserve, paid in this prepaid money. */
  readonly reserveMoney?: string | undefined;
  /** The request carried the workspace's token: a refusal may show the workspace's figures. */
  readonly showFigures: boolean;
}

/** Extensions of one workspace that may await settlement at the same time. */
const PENDING_MAX = 32;
/** Reserves of one workspace that are not used up: all are in its record. */
const RESERVES_MAX = 32;
const RETRY_AFTER_S = 5;

export interface ExtensionsDeps {
  readonly store: Store;
  readonly time: RentedTime;
  readonly records: WorkspaceRecords;
  readonly pricing: WorkspacePricing;
  readonly settings: WorkspaceSettings;
  readonly pendingEffects: PendingEffects;
  readonly log: (event: object) => void;
}

/**
 * Extensions as effects of payments: a step is reserved, then committed or undone. A reserved step counts against the
 * spend limit and the total time from the start, so that racing requests exceed neither.
 */
export class Extensions {
  readonly #deps: ExtensionsDeps;
  readonly #steps: Table<Step>;

  constructor(deps: ExtensionsDeps) {
    this.#deps = deps;
    this.#steps = deps.store.table('workspace_steps');
  }

  /**
   * Reserves a step. @returns its id.
   * @throws workspace_unauthorized, spend_limit_exceeded, ttl_limit_exceeded, rate_limited
   */
  async reserve(
    id: WorkspaceId,
    { payer, reserveMoney: money, showFigures, ...request }: StepRequest,
  ): Promise<StepId> {
    const { records, time } = this.#deps;
    const step = newStepId(id);
    const reserve = money === undefined ? {} : { reserve: { payer, money } };
    await records.transaction(() => {
      const before = records.get(id);
      if (!before || !records.isLive(before)) throw unauthorized();
      const pending = this.#pendingSteps(before);
      this.#checkLimits(before, pending, request, showFigures);
      if (money !== undefined) checkReserves(unusedReserves(before, time.now()), pending);
      records.write(before, {
        ...before,
        pendingSteps: [...pending, { step, ...request, since: time.now() }],
      });
      void this.#steps.put(step, { state: 'pending', ...request, ...reserve });
      this.#deps.pendingEffects.addExtension({ step, payer });
    });
    return step;
  }

  /**
   * The step is paid: its minutes are added to what is left, before what is in reserve. Idempotent. A workspace that has ended stays
   * ended; the amount is added to its spend, or refunded to the payer if it was for the reserve.
   * @throws internal when the step does not exist.
   */
  async commit(stepId: StepId): Promise<{ record: WorkspaceRecord; step: Step }> {
    const { records, log } = this.#deps;
    return records.transaction(() => {
      const { step, record: before } = this.#find(stepId);
      if (step.state === 'committed') return { record: before, step };
      const isActive = before.state === 'active';
      const record: WorkspaceRecord = {
        ...before,
        ...(isActive ? this.#lengthened(before, stepId, step) : this.#paidAfterEnd(before, stepId, step)),
        pendingSteps: before.pendingSteps.filter((other) => other.step !== stepId),
      };
      const committed: Step = { ...step, state: 'committed' };
      records.write(before, record);
      void this.#steps.put(stepId, committed);
      this.#deps.pendingEffects.remove(stepId);
      if (!isActive) log({ event: 'extension_paid_after_end', workspace: before.id, state: before.state });
      return { record, step: committed };
    });
  }

  #lengthened(
    before: WorkspaceRecord,
    id: StepId,
    { minutes, price, reserve }: Step,
  ): Pick<WorkspaceRecord, 'endsAt' | 'spend' | 'reserves'> {
    const now = this.#deps.time.now();
    const reserves = unusedReserves(before, now);
    if (reserve) reserves.push({ step: id, ...reserve, minutes, perMinute: price / BigInt(minutes) });
    return {
      endsAt: Math.max(before.endsAt, now) + minutes * MINUTE_MS,
      spend: before.spend + price,
      ...((before.reserves || reserve) && { reserves }),
    };
  }

  #paidAfterEnd(
    before: WorkspaceRecord,
    step: StepId,
    { price, reserve }: Step,
  ): Pick<WorkspaceRecord, 'spend'> {
    if (!reserve) return { spend: before.spend + price };
    this.#deps.records.reserves.giveBack({ step, ...reserve, amount: price });
    return { spend: before.spend };
  }

  /** The payment failed: removes the step. Idempotent. @throws internal for a committed step. */
  async undo(stepId: StepId): Promise<void> {
    const { records } = this.#deps;
    await records.transaction(() => {
      const step = this.#steps.get(stepId);
      if (!step) return;
      if (step.state === 'committed')
        throw new FarthingError('internal', `step ${stepId} is paid and cannot be undone`);
      const before = records.get(workspaceOfStep(stepId));
      if (before) {
        records.write(before, {
          ...before,
          pendingSteps: before.pendingSteps.filter((other) => other.step !== stepId),
        });
      }
      void this.#steps.remove(stepId);
      this.#deps.pendingEffects.remove(stepId);
    });
  }

  /** A committed step, and its workspace as it is now. @throws internal when there is none. */
  committed(stepId: StepId): { record: WorkspaceRecord; step: Step } {
    const found = this.#find(stepId);
    if (found.step.state !== 'committed') throw new FarthingError('internal', `step ${stepId} is not paid`);
    return found;
  }

  /** Inside a transaction: removes all steps of a workspace. */
  forget(id: WorkspaceId): void {
    for (const { key } of [...this.#steps.range({ start: `${id}/`, end: `${id}0` })]) {
      const step = storedId('step', key);
      void this.#steps.remove(step);
      this.#deps.pendingEffects.remove(step);
    }
  }

  #find(stepId: StepId): { record: WorkspaceRecord; step: Step } {
    const step = this.#steps.get(stepId);
    const record = this.#deps.records.get(workspaceOfStep(stepId));
    if (!step || !record) throw new FarthingError('internal', `step ${stepId} does not exist`);
    return { record, step };
  }

  #pendingSteps({ pendingSteps }: WorkspaceRecord): PendingStep[] {
    const { time, settings } = this.#deps;
    const oldest = time.now() - settings.pendingHoursMax * HOUR_MS;
    return pendingSteps.filter(({ since }) => since > oldest);
  }

  #checkLimits(
    record: WorkspaceRecord,
    pending: readonly PendingStep[],
    { minutes, price }: Pick<StepRequest, 'minutes' | 'price'>,
    showFigures: boolean,
  ): void {
    if (pending.length >= PENDING_MAX) {
      throw new FarthingError(
        'rate_limited',
        'Too many extensions of this workspace are being paid for. Try again shortly.',
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    // Minutes in reserve count as spent: they may all be used.
    const spendWithPending = pending.reduce((sum, step) => sum + step.price, record.spend);
    if (record.spendLimit !== null && spendWithPending + price > record.spendLimit) {
      throw overSpendLimit(record, record.spendLimit, spendWithPending, price, showFigures);
    }
    const { pricing, time } = this.#deps;
    const leftMs = pending.reduce((sum, step) => sum + step.minutes * MINUTE_MS, record.endsAt - time.now());
    if (leftMs + minutes * MINUTE_MS > pricing.ttlTotalMinutesMax * MINUTE_MS) {
      throw overTotalTime(pricing.ttlTotalMinutesMax, leftMs, minutes, showFigures);
    }
  }
}

/** @throws rate_limited */
function checkReserves(reserves: readonly Reserve[], pending: readonly PendingStep[]): void {
  if (reserves.length + pending.length < RESERVES_MAX) return;
  throw new FarthingError(
    'rate_limited',
    `A workspace may have ${RESERVES_MAX} reserves at once. Put more minutes into each, or wait until one is used. Nothing was charged.`,
    { retryAfterS: RETRY_AFTER_S },
  );
}

function overSpendLimit(
  record: WorkspaceRecord,
  limit: AtomicAmount,
  spendWithPending: AtomicAmount,
  price: AtomicAmount,
  showFigures: boolean,
): FarthingError {
  const facts = {
    price_usd: formatUsd(price),
    spend_usd: formatUsd(record.spend),
    spend_pending_usd: formatUsd(spendWithPending - record.spend),
    spend_limit_usd: formatUsd(limit),
  };
  const detail =
    'This extension would exceed the spend limit of the workspace. Ask for fewer minutes. Nothing was charged.';
  return new FarthingError('spend_limit_exceeded', detail, { facts: showFigures ? facts : {} });
}

function overTotalTime(
  totalMinutesMax: number,
  leftMs: number,
  minutes: number,
  showFigures: boolean,
): FarthingError {
  const facts = {
    ttl_minutes: minutes,
    ttl_seconds_left: Math.floor(leftMs / 1000),
    ttl_total_minutes_max: totalMinutesMax,
  };
  const detail = `After this extension the workspace would live longer than ${totalMinutesMax} minutes from now. Ask for fewer minutes or extend later. Nothing was charged.`;
  return new FarthingError('ttl_limit_exceeded', detail, { facts: showFigures ? facts : {} });
}
