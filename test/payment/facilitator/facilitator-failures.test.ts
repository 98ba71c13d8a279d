import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { headerAuth } from '../../../src/payment/facilitator/auth-headers.ts';
import { deep } from '../../rig/deep.ts';
import type { Misbehaviour } from '../rig/facilitator-server.ts';
import { fivePayers } from '../rig/five-payers.ts';
import { paid, sign, v2Header, wallet } from '../rig/payments.ts';
import { openRemoteRig, outsideFacilitator } from '../rig/remote-rig.ts';
import { buy, codeOf } from '../rig/requests.ts';

/** Charges and answers while a facilitator fails, and after it recovers: the table of docs/facilitator-failures.md. */

const inFiveMinutes = () => BigInt(Math.floor(Date.now() / 1000) + 280);

const FAILURES: Readonly<Record<string, Misbehaviour>> = {
  'does not answer in time': 'silent',
  'answers 500': 'error_500',
  'answers garbage': 'garbage',
  'answers without end': 'huge',
  'names another payer': 'other_payer',
  'redirects elsewhere': 'redirect',
  'turns the request away with 401': 'turned_away',
  'tells of its own trouble': 'unexpected_error',
  'drops the connection before it acts': 'drops_before',
  'settles and drops the connection': 'drops_after',
  'settles without a transaction': 'no_transaction',
  'settles and says that it timed out': 'timed_out_after',
  'settles and says that it failed': 'pending_after',
};

/** Failures that the table has of settlements only: mostly the money has moved by then. */
const OF_SETTLEMENTS: readonly Misbehaviour[] = [
  'turned_away',
  'drops_after',
  'no_transaction',
  'timed_out_after',
  'pending_after',
];

interface Row {
  readonly call: 'verify' | 'settle';
  readonly failure: string;
}

function rows(): (Row & { line: string })[] {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/facilitator-failures.md'), 'utf8');
  return [...text.matchAll(/^\| (verify|settle) \| (.+?) \|.*$/gm)].map(([line, call, failure]) => ({
    call: call as Row['call'],
    failure: failure!,
    line,
  }));
}

/** In turn from row to row; each row with both in `make test-deep`. */
const MODES = ['pure', 'effect'] as const;

for (const [at, { call, failure, line }] of rows().entries()) {
  for (const mode of deep([MODES[at % 2]!], [...MODES])) {
    t.test(`${call} ${failure}, ${mode} work: charged and served as the table says`, async (t) => {
      const how = FAILURES[failure]!;
      const { told, chargedThen, toldAfter, charged, books } = await fivePayers(t, { call, how, mode });
      t.equal(`| ${call} | ${failure} | ${told} | ${chargedThen} | ${toldAfter} | ${charged} |`, line);
      t.same([books.settled.count, books.pending.count], [charged, 0], 'the books agree with the chain');
    });
  }
}

t.test('every failure that the table can have is in it', async (t) => {
  const known = rows().map(({ call, failure }) => `${call} ${failure}`);
  for (const [failure, how] of Object.entries(FAILURES)) {
    if (!OF_SETTLEMENTS.includes(how)) t.ok(known.includes(`verify ${failure}`), failure);
    t.ok(known.includes(`settle ${failure}`), failure);
  }
});

t.test('a facilitator that fails again and again is not asked for a while, and then once', async (t) => {
  const rig = await openRemoteRig(t);
  rig.freeze();
  rig.server.behaviour.verify = 'error_500';
  const pay = async () => codeOf(buy(rig, { ...(await paid(wallet(), { validBefore: inFiveMinutes() })) }));
  for (let payment = 0; payment < 5; payment++) t.equal(await pay(), 'facilitator_unavailable');
  const asked = rig.server.seen.verify.length;
  t.equal(asked, 9, 'twice for each of five wallets, until the fifth has failed, too');
  t.equal(await pay(), 'facilitator_unavailable');
  t.equal(rig.server.seen.verify.length, asked, 'it is left alone');
  rig.server.behaviour.verify = 'none';
  rig.clock.offsetMs += 30_000;
  t.equal(await pay(), 'no error');
  t.equal(await pay(), 'no error', 'closed again');
  t.equal(rig.charges(), 2);
});

t.test('when settlements fail in a row, no further payment is begun until one comes through', async (t) => {
  const rig = await openRemoteRig(t);
  rig.freeze();
  rig.server.behaviour.settle = 'drops_after';
  const pay = async () => codeOf(buy(rig, { ...(await paid(wallet(), { validBefore: inFiveMinutes() })) }));
  for (let payment = 0; payment < 5; payment++) t.equal(await pay(), 'settlement_pending');
  const verified = rig.server.seen.verify.length;
  t.equal(await pay(), 'facilitator_unavailable');
  t.equal(rig.server.seen.verify.length, verified, 'nobody was asked anything');
  t.equal(rig.charges(), 5);
  t.match(rig.gate.health(), { pending: 5 });
});

t.test('a purchase that ends before its settlement leaves the trial to the next', async (t) => {
  const rig = await openRemoteRig(t);
  rig.freeze();
  rig.server.behaviour.settle = 'drops_before';
  const signed = async (value?: bigint) =>
    v2Header(await sign(wallet(), { validBefore: inFiveMinutes(), ...(value && { value }) }));
  for (let payment = 0; payment < 5; payment++)
    t.equal(await codeOf(buy(rig, { paymentSignature: await signed() })), 'settlement_pending');
  rig.server.behaviour.settle = 'none';
  rig.clock.offsetMs += 30_000;
  const poor = await buy(rig, { paymentSignature: await signed(200_000_000n), amount: 200_000_000n });
  t.equal(poor.body.error, 'insufficient_funds');
  const failing = { paymentSignature: await signed(), run: () => Promise.reject(new Error('no work')) };
  t.not(await codeOf(buy(rig, failing)), 'no error');
  t.equal((await buy(rig, { paymentSignature: await signed() })).status, 200);
});

t.test('one payment that can’t be settled shuts nobody else out', async (t) => {
  const rig = await openRemoteRig(t);
  const account = wallet();
  rig.index(account);
  rig.server.behaviour.settle = 'unexpected_error';
  const asking = await paid(account);
  for (let retry = 0; retry < 12; retry++) t.equal(await codeOf(buy(rig, asking)), 'settlement_pending');
  rig.server.behaviour.settle = 'none';
  t.equal((await buy(rig, await paid())).status, 200);
});

for (const how of ['error_500', 'garbage', 'drops_before', 'other_payer'] as const) {
  t.test(
    `when the first facilitator's verify is "${how}" a further one is asked, and the first settles`,
    async (t) => {
      const further = await outsideFacilitator(t);
      const rig = await openRemoteRig(t, {
        further: [{ url: further.server.url }],
        authHeaders: headerAuth('Authorization: Bearer secret'),
      });
      await rig.facilitator.connect();
      rig.server.behaviour.verify = how;
      t.equal((await buy(rig, await paid())).status, 200);
      t.equal(rig.charges(), 1);
      t.equal(further.server.seen.verify.length, 1);
      t.equal(further.server.seen.settle.length, 0, 'the first does');
      t.same(further.server.tokens, [undefined, undefined], 'the token is not its business');
      t.same(new Set(rig.server.tokens), new Set(['Bearer secret']));
    },
  );
}

t.test('a refusal by the first facilitator is final', async (t) => {
  const further = await outsideFacilitator(t);
  const rig = await openRemoteRig(t, { further: [{ url: further.server.url }] });
  const poor = await buy(rig, {
    ...(await paid(wallet(), { value: 200_000_000n })),
    amount: 200_000_000n,
  });
  t.equal(poor.body.error, 'insufficient_funds');
  t.equal(further.server.seen.verify.length, 0);
});
