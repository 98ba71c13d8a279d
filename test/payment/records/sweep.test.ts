import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { paymentKey } from '../../../src/payment/payment.ts';
import { AnswerStore } from '../../../src/payment/records/answers.ts';
import type { Reserved } from '../../../src/payment/records/payment-record.ts';
import { PaymentRecords } from '../../../src/payment/records/records.ts';
import type { Address } from '../../../src/protocol/address.ts';
import { payerTenantId } from '../../../src/protocol/id.ts';
import { type GateRig, openRig } from '../rig/gate-rig.ts';
import { addressOf, PAY_TO, PRICE, wallet } from '../rig/payments.ts';

const DAY_MS = 86_400_000;
/** More than two batches of the sweep. */
const PAYMENTS = 2100;

/** The books of the rig, written to directly: thousands of real signatures prove nothing here. */
function recordsOf({ store, clock, prepaid }: GateRig): PaymentRecords {
  return new PaymentRecords({ store, clock, assets: [BASE_USDC], answerKeepMinutes: 15, prepaid });
}

async function settle(records: PaymentRecords, payer: Address, effect?: Reserved['effect']) {
  const record: Reserved = {
    state: 'reserved',
    payment: {
      asset: BASE_USDC,
      version: 2,
      scheme: 'exact',
      networkName: 'eip155:8453',
      payer,
      payTo: PAY_TO,
      value: PRICE,
      validAfter: 0n,
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 60),
      nonce: `0x${randomBytes(32).toString('hex')}`,
      signature: '0x',
    },
    terms: { amount: PRICE, resource: '', description: '' },
    route: 'POST /agent/v1/search',
    requestHash: 'a'.repeat(64),
    effect,
  };
  const key = paymentKey(record.payment);
  await records.reserve(key, record);
  await records.settled(key, records.asSettled(record, { transaction: '' }));
  return key;
}

t.test('one sweep forgets all that is due; a file that will not go delays nothing', async (t) => {
  const rig = openRig(t);
  const records = recordsOf(rig);
  const account = wallet();
  const payer = addressOf(account);
  rig.index(account);
  const [stuck, ...others] = await Promise.all(
    Array.from({ length: PAYMENTS }, () => settle(records, payer)),
  );
  const folder = join(rig.folder, 'tenants', payerTenantId(payer));
  const answers = new AnswerStore({ tenants: { folder: () => folder }, bytesPerTenantMax: 2 ** 20 });
  const fileOf = (key: string) => join(folder, 'answers', createHash('sha256').update(key).digest('hex'));
  await answers.keep(payerTenantId(payer), others[0]!, { status: 200, headers: {}, body: {} });
  mkdirSync(fileOf(stuck!));
  t.ok(existsSync(fileOf(others[0]!)));

  rig.clock.offsetMs = 500 * DAY_MS;
  await rig.gate.sweep();
  t.equal(rig.store.table('payments').count(), 0);
  t.equal(rig.store.table('payments_expiry').count(), 0);
  t.notOk(existsSync(fileOf(others[0]!)), 'the other answers are gone');
  t.equal([...rig.gate.journal.entries()].length, 0, 'the books are as short as they should be');
  t.equal(rig.gate.journal.totals().settled.count, PAYMENTS);
});

t.test('a settled payment whose effect is not committed yet is kept', async (t) => {
  const rig = openRig(t);
  const records = recordsOf(rig);
  const key = await settle(records, addressOf(wallet()), await rig.things.make('thing'));
  rig.clock.offsetMs = DAY_MS;
  await rig.gate.sweep();
  t.ok(records.find(key));
  t.equal(records.open().length, 1);
  await records.committed(key);
  rig.clock.offsetMs = 2 * DAY_MS;
  await rig.gate.sweep();
  t.notOk(records.find(key), 'forgotten once it is');
});
