import type { Answer, EffectHandler, EffectRef, WorkOutcome } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { isPayer, type PayerId, payerTenantId } from '@farthing/protocol/id';
import { shownIngest } from '@farthing/protocol/schema/shown';
import type { Ingest, ReleasedIngest } from '../ingest/ingest.ts';
import type { StagedUpload } from '../ingest/ports/ports.ts';
import type { PayerIndex } from '../workspace/payer/payer-index.ts';
import type { Credits } from './credits.ts';

export interface PaidIngestDeps {
  readonly ingest: Ingest;
  readonly payerIndex: PayerIndex;
  readonly credits: Credits;
}

/** A paid ingest: its job is held until the settlement releases it, or withdrawn when that fails. */
export class PaidIngest implements EffectHandler<'ingest'> {
  readonly #deps: PaidIngestDeps;

  constructor(deps: PaidIngestDeps) {
    this.#deps = deps;
  }

  /**
   * Opens and accepts the upload; nothing is charged for a duplicate, and where an earlier ingest's credit pays.
   * @param signal aborted: the buyer has left
   */
  async buy(payer: Address, upload: StagedUpload, signal?: AbortSignal): Promise<WorkOutcome> {
    const { ingest, payerIndex } = this.#deps;
    const tenant = payerTenantId(payer);
    const inspected = await ingest.inspect(tenant, upload, signal);
    if ('duplicate' in inspected) return this.#uncharged(tenant, inspected.duplicate);
    await payerIndex.ensure(tenant);
    const byCredit = await this.#acceptByCredit(payer, () =>
      ingest.accept(tenant, upload, inspected.info, { held: false, creditTo: payer }),
    );
    if (byCredit) return byCredit;
    const held = await ingest.accept(tenant, upload, inspected.info, { held: true, creditTo: payer });
    if (held.duplicate) return this.#uncharged(tenant, held);
    return { charged: true, effect: { kind: 'ingest', ref: { job: held.job.id } } };
  }

  async commit({ job }: EffectRef<'ingest'>): Promise<Answer> {
    const { ingest, payerIndex } = this.#deps;
    const { tenant } = ingest.existing(job);
    if (!isPayer(tenant)) throw new FarthingError('internal', `job ${job} was never sold`);
    // Begun in one turn of the event loop, both are one durable write.
    const [released] = await Promise.all([ingest.release(job), payerIndex.touch(tenant)]);
    return { status: 200, headers: {}, body: shownIngest(released, true, payerIndex.expiry(tenant)) };
  }

  reissue(ref: EffectRef<'ingest'>): Promise<Answer> {
    return this.commit(ref);
  }

  undo({ job }: EffectRef<'ingest'>): Promise<void> {
    return this.#deps.ingest.withdraw(job);
  }

  async pending(): Promise<EffectRef<'ingest'>[]> {
    return (await this.#deps.ingest.heldJobs()).map((job) => ({ job }));
  }

  /** An earlier ingest that was paid for and failed pays for this one; undefined when there is no such credit. */
  async #acceptByCredit(
    payer: Address,
    accept: () => Promise<ReleasedIngest>,
  ): Promise<WorkOutcome | undefined> {
    const { credits, payerIndex } = this.#deps;
    const credit = await credits.use(payer);
    if (!credit) return undefined;
    const tenant = payerTenantId(payer);
    try {
      const accepted = await accept();
      if (accepted.duplicate) {
        await credits.giveBack(credit);
        return this.#uncharged(tenant, accepted);
      }
      await credits.spent(credit);
      await payerIndex.touch(tenant);
      return this.#uncharged(tenant, accepted, { credit_used: true });
    } catch (error) {
      await credits.giveBack(credit);
      throw error;
    }
  }

  #uncharged(tenant: PayerId, accepted: ReleasedIngest, more: object = {}): WorkOutcome {
    const body = shownIngest(accepted, false, this.#deps.payerIndex.expiry(tenant));
    return { charged: false, answer: { status: 200, headers: {}, body: { ...body, ...more } } };
  }
}
