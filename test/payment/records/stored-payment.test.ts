import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { PaymentRecord } from '../../../src/payment/records/payment-record.ts';
import {
  readPayment,
  type StoredPayment,
  storedPayment,
} from '../../../src/payment/records/stored-payment.ts';
import type { JobId } from '../../../src/protocol/id.ts';

/** Records as servers have written them since the first release: they must stay readable. */

const EFFECT = { kind: 'ingest', ref: { job: 'job_1' as JobId } } as const;
const TIMING = { verify_ms: 1, settle_ms: 2 };
const COMMON = {
  payment: {
    version: 2,
    scheme: 'exact',
    networkName: 'base',
    payer: '0x01',
    payTo: '0x02',
    value: 6000n,
    validAfter: 0n,
    validBefore: 1_900_000_000n,
    nonce: '0x03',
    signature: '0x04',
  },
  terms: { amount: 6000n, resource: 'http://127.0.0.1/', description: 'A search.' },
  route: 'POST /agent/v1/search',
  requestHash: 'a'.repeat(64),
} as const;
const CHARGED = { ...COMMON, transaction: '0x05', timing: TIMING, keepUntil: 7 };

const RECORDS: Readonly<Record<string, [StoredPayment, Partial<PaymentRecord>]>> = {
  'a reservation': [{ ...COMMON, state: 'reserved' }, { state: 'reserved' }],
  'a settlement that is under way': [
    { ...COMMON, state: 'settling', keyHash: 'b', effect: EFFECT },
    { state: 'settling', keyHash: 'b', effect: EFFECT },
  ],
  'a settlement whose answer is lost': [
    { ...COMMON, state: 'settling', pending: true, timing: TIMING },
    { state: 'pending', timing: TIMING },
  ],
  'an effect that cannot be undone': [
    { ...COMMON, state: 'undoing', effect: EFFECT },
    { state: 'undoing', effect: EFFECT, wasPending: false, refusal: undefined },
  ],
  'one that cannot be undone after its answer was lost': [
    { ...COMMON, state: 'undoing', effect: EFFECT, pending: true, refusal: 'insufficient_funds' },
    { state: 'undoing', effect: EFFECT, wasPending: true, refusal: 'insufficient_funds' },
  ],
  'pure work that is settled': [
    { ...CHARGED, state: 'settled', extra: { moneyMoved: false } },
    { state: 'settled', transaction: '0x05', extra: { moneyMoved: false }, presumed: false, keepUntil: 7 },
  ],
  'a settlement that is presumed': [
    { ...CHARGED, state: 'settled', transaction: '', presumed: true },
    { state: 'settled', transaction: '', presumed: true },
  ],
  'a settlement whose sender and gas are known': [
    { ...CHARGED, state: 'settled', by: { facilitator: 'self', gasWei: '9' } },
    { state: 'settled', by: { facilitator: 'self', gasWei: '9' } },
  ],
  'an effect that is not committed': [
    { ...CHARGED, state: 'settled', effect: EFFECT },
    { state: 'settled', effect: EFFECT },
  ],
  'an effect that is committed': [
    { ...CHARGED, state: 'settled', effect: EFFECT, committed: true },
    { state: 'committed', effect: EFFECT },
  ],
  'pure work that is delivered': [{ ...CHARGED, state: 'settled', delivered: true }, { state: 'delivered' }],
  'an effect that is delivered': [
    { ...CHARGED, state: 'settled', effect: EFFECT, committed: true, delivered: true },
    { state: 'delivered', effect: EFFECT },
  ],
};

for (const [name, [stored, expected]] of Object.entries(RECORDS)) {
  t.test(`${name} is read, and written as it was`, async (t) => {
    const record = readPayment(stored, BASE_USDC);
    t.match(record, expected);
    t.match(storedPayment(record), stored);
    t.notOk('asset' in storedPayment(record).payment, 'its key names the coin');
    t.same(readPayment(storedPayment(record), BASE_USDC), record);
  });
}
