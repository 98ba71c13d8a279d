import t from 'tap';
import { heldStore } from '../../../../src/cluster/log/held-store.ts';
import type { LoggedStore } from '../../../../src/cluster/log/logged-store.ts';

t.test('what the log has only once the slot is given up is not told', async (t) => {
  const logged = Promise.withResolvers<void>();
  const store = heldStore({ stable: () => logged.promise } as LoggedStore);
  const told = store.stable();
  store.end();
  logged.resolve();
  await t.rejects(told, { code: 'interrupted', message: /Another server has this now/ });
  await t.rejects(store.stable(), { code: 'interrupted' });
});

t.test('until then it is', async (t) => {
  const store = heldStore({ stable: async () => undefined } as LoggedStore);
  await t.resolves(store.stable());
});
