import type { Settlement } from '../facilitator/facilitator.ts';
import type { Answer, Effect, EffectHandler, EffectHandlers, EffectKind } from '../purchase.ts';

/** The side effects of payments, each passed to the handler of its kind. */
export class Effects {
  readonly #handlers: EffectHandlers;

  constructor(handlers: EffectHandlers) {
    this.#handlers = handlers;
  }

  commit(effect: Effect): Promise<Answer> {
    return this.#handlerOf(effect.kind).commit(effect.ref);
  }

  undo(effect: Effect): Promise<void> {
    return this.#handlerOf(effect.kind).undo(effect.ref);
  }

  /** Whether it may not be committed on the presumption that it was paid for. */
  needsProof(effect: Effect): boolean {
    return this.#handlerOf(effect.kind).needsProof === true;
  }

  /** A settlement that nothing proves is of unknown outcome for an effect that needs proof. */
  weighed<T extends { readonly kind: string }>(
    settlement: Settlement | T,
    effect: Effect | undefined,
  ): Settlement | T {
    const isUnproven = 'unproven' in settlement && settlement.unproven === true;
    if (!isUnproven || !effect || !this.needsProof(effect)) return settlement;
    return { kind: 'unknown', detail: 'the authorization is used, and nothing shows by what' };
  }

  reissue(effect: Effect): Promise<Answer> {
    return this.#handlerOf(effect.kind).reissue(effect.ref);
  }

  /** Every effect that waits for its commit and whose payment is in this store. */
  async pending(): Promise<Effect[]> {
    const kinds = Object.keys(this.#handlers) as EffectKind[];
    const effects = await Promise.all(
      kinds.map(async (kind) =>
        (await this.#handlerOf(kind).pending()).map((ref) => ({ kind, ref }) as Effect),
      ),
    );
    return effects.flat();
  }

  /** A kind and its reference belong together in `Effect`, which the compiler does not follow through the lookup. */
  #handlerOf(kind: EffectKind): EffectHandler {
    return this.#handlers[kind] as EffectHandler;
  }
}
