import t from 'tap';
import { type BodySource, RequestBody } from '../../../../src/server/http/body/body.ts';
import { SharedBytes, sharesOf } from '../../../../src/server/http/body/shared-bytes.ts';

/** Remembers what was asked of the socket. */
class FakeSocket {
  readonly calls: string[] = [];
  pause(): void {
    this.calls.push('pause');
  }
  resume(): void {
    this.calls.push('resume');
  }
}

const MEBIBYTE = 2 ** 20;
const open = (source: BodySource = new FakeSocket(), shares = sharesOf(96 * MEBIBYTE), announced?: number) =>
  new RequestBody(source, { shares, announced });

t.test('pieces of any length are whole, in order', async (t) => {
  const lengths = [1, 5, 70_000, 3, 64 * 1024, 40_000, 40_000, 2, 2 * MEBIBYTE, 1, 1];
  const sent = Buffer.from(
    Array.from({ length: lengths.reduce((a, b) => a + b) }, (_, index) => index % 253),
  );
  const body = open();
  const whole = body.whole(8 * MEBIBYTE);
  let at = 0;
  for (const length of lengths) {
    body.push(new Uint8Array(sent.subarray(at, at + length)).buffer, at + length === sent.byteLength);
    at += length;
    await null;
  }
  t.ok((await whole).equals(sent));
});

const small = () => ({ unproved: new SharedBytes(100), proved: new SharedBytes(100) });
const bytes = (length: number) => new ArrayBuffer(length);

t.test('of what is unproved the largest body is refused, and nobody else', async (t) => {
  const shares = small();
  const [greedy, ...modest] = Array.from({ length: 5 }, () => open(undefined, shares));
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
  const paying = open(undefined, shares);
  paying.proved('workspace');
  for (let count = 0; count < 20; count += 1) open(undefined, shares).push(bytes(50), false);
  paying.push(bytes(40), false);
  t.equal(paying.failure, undefined);
  const flood = Array.from({ length: 10 }, () => open(undefined, shares));
  for (const body of flood) {
    body.proved('a cheap workspace');
    body.push(bytes(15), false);
  }
  t.equal(paying.failure, undefined);
  t.equal(flood.filter(({ failure }) => failure).length, 6, 'four of 15 bytes beside 40');
});

t.test('bytes are given back when they are read on, and at the end', async (t) => {
  const shares = small();
  const read = open(undefined, shares);
  read.push(bytes(50), true);
  for await (const _piece of read.pieces()) t.equal(shares.unproved.bytes, 0);
  const kept = open(undefined, shares);
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
