import { join } from 'node:path';
import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { Journal, type JournalEntry } from '../../../src/payment/records/journal.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { PAY_TO } from '../rig/payments.ts';

const entry = (change: Partial<JournalEntry> = {}): JournalEntry => ({
  kind: 'settled',
  time: 1000,
  network: 'eip155:8453',
  asset: BASE_USDC.address,
  payer: PAY_TO,
  payTo: PAY_TO,
  nonce: '0x01',
  amount: '6000',
  route: 'POST /agent/v1/search',
  requestHash: 'a'.repeat(64),
  ...change,
});

t.test('entries and totals keep their order over restarts and clocks set back', async (t) => {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  const journal = new Journal(store);
  await store.transaction(() => {
    journal.append(entry({ nonce: '1' }));
    journal.append(entry({ nonce: '2', kind: 'pending', amount: '10' }));
  });
  await store.transaction(() =>
    new Journal(store).append(entry({ nonce: '3', time: 500, amount: '10' }), { resolves: true }),
  );
  t.same(
    [...journal.entries()].map(({ nonce }) => nonce),
    ['1', '2', '3'],
  );
  t.same(journal.totals(), {
    settled: { count: 2, amount: '6010' },
    prepaid: { count: 0, amount: '0' },
    voucher: { count: 0, amount: '0' },
    claimed: { count: 0, amount: '0' },
    returned: { count: 0, amount: '0' },
    refused: { count: 0, amount: '0' },
    pending: { count: 0, amount: '0' },
    presumed: { count: 0, amount: '0' },
    refunded: { count: 0, amount: '0' },
  });
  const [first, second] = [...journal.entries({ limit: 2 })];
  t.same(
    [...journal.entries({ after: first!.key })].map(({ nonce }) => nonce),
    ['2', '3'],
  );
  t.same(
    [...journal.entries({ after: second!.key, limit: 1 })].map(({ nonce }) => nonce),
    ['3'],
  );
  t.same([...journal.entries({ since: 1001 })], []);
});

t.test('a payment is refunded once, also when its entries are gone', async (t) => {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  const journal = new Journal(store);
  const paid = entry({ nonce: '1' });
  await store.transaction(() => journal.append(paid));
  const noted = await Promise.all(Array.from({ length: 10 }, () => journal.refund(paid, '0xaa', 2000)));
  t.equal(noted.filter((isNoted) => isNoted).length, 1);
  await journal.prune(Date.now(), { keepDays: 1, entriesMax: 10 });
  t.equal([...journal.entries()].length, 0);
  t.notOk(await journal.refund(paid, '0xbb', 3000));
  t.match(journal.totals(), { settled: { count: 1 }, refunded: { count: 1, amount: paid.amount } });
  t.same([...journal.refunds()], [{ payer: paid.payer, amount: paid.amount, transaction: '0xaa' }]);
});

t.test('old entries and too many are dropped; the totals still reconcile', async (t) => {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  const journal = new Journal(store);
  const day = 86_400_000;
  await store.transaction(() => {
    for (let index = 0; index < 10; index++)
      journal.append(entry({ nonce: `${index}`, time: index * day, amount: `${100 + index}` }));
  });
  const reconciled = () => {
    const left = [...journal.entries()].reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    t.equal(left + BigInt(journal.dropped().settled.amount), BigInt(journal.totals().settled.amount));
  };
  t.equal(await journal.prune(10 * day, { keepDays: 7, entriesMax: 1000 }), 3, 'too old');
  reconciled();
  t.equal(await journal.prune(10 * day, { keepDays: 7, entriesMax: 4 }), 3, 'too many');
  reconciled();
  t.equal(await journal.prune(10 * day, { keepDays: 7, entriesMax: 4 }), 0);
  t.same(
    [...journal.entries()].map(({ nonce }) => nonce),
    ['6', '7', '8', '9'],
  );
  t.equal(journal.totals().settled.count, 10);
});
