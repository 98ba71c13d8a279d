import t from 'tap';
import { type BodySource, RequestBody } from '../../../../src/server/http/body/body.ts';
import { SharedBytes, sharesOf } from '../../../../src/server/http/body/shared-bytes.ts';

const SOCKET: BodySource = { pause: () => undefined, resume: () => undefined };
const MEBIBYTE = 2 ** 20;
const open = (shares = sharesOf(96 * MEBIBYTE)) => new RequestBody(SOCKET, { shares });

const small = () => ({ unproved: new SharedBytes(100), proved: new SharedBytes(100) });
const bytes = (length: number) => new ArrayBuffer(length);

t.test('of what is unproved the largest body is refused, and nobody else', async (t) => {
  const shares = small();
  const [greedy, ...modest] = Array.from({ length: 5 }, () => open(shares));
  greedy!.push(bytes(60), false);
  for (const body of modest) body.push(bytes(20), false);
  t.match(greedy!.failure, { code: 'overloaded' });
  t.same(
    modest.map(({ failure }) => failure),
    [undefined, undefined, undefined, undefined],
  );
  t.equal(shares.unproved.bytes, 80, 'its bytes are free');
});

t.test('what is proved has a part that the unproved cannot touch, and shares it by Tenant', async (t) => {
  const shares = small();
  const paying = open(shares);
  paying.proved('workspace');
  for (let count = 0; count < 20; count += 1) open(shares).push(bytes(50), false);
  paying.push(bytes(40), false);
  t.equal(paying.failure, undefined);
  const flood = Array.from({ length: 10 }, () => open(shares));
  for (const body of flood) {
    body.proved('a cheap workspace');
    body.push(bytes(15), false);
  }
  t.equal(paying.failure, undefined);
  t.equal(flood.filter(({ failure }) => failure).length, 6, 'four of 15 bytes beside 40');
});

t.test('bytes are given back when they are read on, and at the end', async (t) => {
  const shares = small();
  const read = open(shares);
  read.push(bytes(50), true);
  for await (const _piece of read.pieces()) t.equal(shares.unproved.bytes, 0);
  const kept = open(shares);
  kept.push(bytes(50), true);
  await kept.whole(100);
  t.equal(shares.unproved.bytes, 50, 'it is still in memory');
  kept.discard();
  t.equal(shares.unproved.bytes, 0);
});

t.test('a body that drips is too slow, one that is held back is not', async (t) => {
  const dripping = open();
  t.notOk(dripping.isTooSlow(10), 'it has just begun');
  dripping.push(bytes(9), false);
  t.ok(dripping.isTooSlow(10));
  dripping.push(bytes(10), false);
  t.notOk(dripping.isTooSlow(10));
  const held = open();
  held.push(bytes(300 * 1024), false);
  held.isTooSlow(10);
  t.notOk(held.isTooSlow(10), 'nobody reads it');
  const complete = open();
  complete.isTooSlow(10);
  complete.push(bytes(1), true);
  t.notOk(complete.isTooSlow(10));
});
