import { FarthingError } from '@farthing/protocol/error';
import { type EndableStore, endableStore } from './endable-store.ts';
import type { LoggedStore } from './logged-store.ts';
import type { SlotStore } from './recorded-store.ts';

/** The state of a slot that is with this server. */
export type HeldStore = Required<SlotStore> & Pick<EndableStore, 'end'>;

/** The same, until its slot is released: results of work that still runs then are withheld. */
export function heldStore(store: LoggedStore): HeldStore {
  const ended = () =>
    new FarthingError('interrupted', 'Another server has this now. Send the same request again.', {
      retryAfterS: 1,
    });
  const inner = endableStore(store, ended);
  const check = () => {
    if (inner.hasEnded) throw ended();
  };
  return {
    ...inner,
    stable: async () => {
      check();
      await store.stable();
      // Another server may have answered differently since.
      check();
    },
    lagMs: () => (inner.hasEnded ? Number.POSITIVE_INFINITY : store.lagMs()),
    trim: async () => {
      if (!inner.hasEnded) await store.trim();
    },
  };
}
