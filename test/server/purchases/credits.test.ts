import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/protocol/clock.ts';
import { Credits } from '../../../src/server/purchases/credits.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { addressOf, wallet } from '../../payment/rig/payments.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';

function open(t: Teardown): Credits {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  return new Credits({ store, clock: systemClock });
}

t.test('a failed job makes one credit, which is good for one ingest of its payer', async (t) => {
  const credits = open(t);
  const [payer, other] = [addressOf(wallet()), addressOf(wallet())];
  await credits.newCredit(payer, 'job_1');
  await credits.newCredit(payer, 'job_1');
  t.equal(credits.count(payer), 1);
  t.equal(await credits.use(other), undefined);
  const taken = (await Promise.all(Array.from({ length: 10 }, () => credits.use(payer)))).filter(
    (credit) => credit,
  );
  t.equal(taken.length, 1, 'ten at once take it once');
  await credits.spent(taken[0]!);
  await credits.giveBack(taken[0]!);
  t.equal(await credits.use(payer), undefined, 'it is spent for good');
});

t.test('a credit that was not used after all is open again, also after a crash', async (t) => {
  const credits = open(t);
  const payer = addressOf(wallet());
  await credits.newCredit(payer, 'job_1');
  const credit = await credits.use(payer);
  await credits.giveBack(credit!);
  t.equal(credits.count(payer), 1);
  await credits.use(payer);
  await credits.recover();
  t.equal(credits.count(payer), 1);
  const again = await credits.use(payer);
  await credits.spent(again!);
  await credits.giveBack(again!);
  t.equal(credits.count(payer), 0, 'what is spent cannot be given back');
});
