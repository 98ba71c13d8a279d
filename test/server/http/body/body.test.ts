import t from 'tap';
import { errorCode } from '../../../../src/protocol/error.ts';
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

const piece = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;

t.test('a body that came in pieces is whole, in order', async (t) => {
  const body = open();
  body.push(piece('a'), false);
  const whole = body.whole(100);
  body.push(piece('b'), false);
  body.push(piece('c'), true);
  t.equal((await whole).toString(), 'abc');
});

t.test('a compressed body is refused before it is unfolded', async (t) => {
  for (const coding of ['gzip', 'br', 'identity, gzip']) {
    const body = new RequestBody(new FakeSocket(), { shares: sharesOf(MEBIBYTE), coding });
    body.push(piece('a'), true);
    await t.rejects(body.whole(100), { code: 'request_malformed', message: /Content-Encoding/ });
  }
  const plain = new RequestBody(new FakeSocket(), { shares: sharesOf(MEBIBYTE), coding: 'identity' });
  plain.push(piece('a'), true);
  t.equal((await plain.whole(100)).toString(), 'a');
});

t.test('a large announced body is whole, in order', async (t) => {
  const sent = Buffer.from(Array.from({ length: 400 * 1024 }, (_, index) => index % 251));
  const body = open(undefined, undefined, sent.byteLength);
  const whole = body.whole(MEBIBYTE);
  for (let at = 0; at < sent.byteLength; at += 100_000) {
    const piece = new Uint8Array(sent.subarray(at, at + 100_000));
    body.push(piece.buffer, at + 100_000 >= sent.byteLength);
  }
  t.ok((await whole).equals(sent));
});

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

t.test('the socket’s memory may be used again: pieces are copies', async (t) => {
  const body = open();
  const memory = new Uint8Array([1, 2, 3]);
  body.push(memory.buffer, true);
  memory.fill(9);
  t.same([...(await body.whole(3))], [1, 2, 3]);
});

t.test('one byte over the limit is refused, the limit itself is not', async (t) => {
  const exact = open();
  exact.push(piece('12345'), true);
  t.equal((await exact.whole(5)).byteLength, 5);
  const over = open();
  over.push(piece('123456'), true);
  await t.rejects(over.whole(5), { code: 'body_too_large', facts: { limit_bytes: 5 } });
});

t.test('the socket is paused without a reader, and resumed for one', async (t) => {
  const socket = new FakeSocket();
  const body = open(socket);
  body.push(new ArrayBuffer(300 * 1024), false);
  t.same(socket.calls, ['pause']);
  const whole = body.whole(1e6);
  body.push(piece('end'), true);
  t.equal((await whole).byteLength, 300 * 1024 + 3);
  t.same(socket.calls, ['pause', 'resume']);
});

t.test('a client that leaves fails the reader, after the pieces that arrived', async (t) => {
  const body = open();
  const whole = body.whole(100);
  body.push(piece('half'), false);
  body.fail(new Error('gone'));
  await t.rejects(whole, { message: 'gone' });
});

t.test('an empty body is empty, not endless', async (t) => {
  const body = open();
  body.push(new ArrayBuffer(0), true);
  t.equal((await body.whole(0)).byteLength, 0);
});

t.test('a discarded body resumes the socket and cannot be read', async (t) => {
  const socket = new FakeSocket();
  const body = open(socket);
  body.push(new ArrayBuffer(300 * 1024), false);
  body.discard();
  t.same(socket.calls, ['pause', 'resume']);
  await t.rejects(
    body.whole(10).catch((error) => Promise.reject(new Error(errorCode(error)))),
    { message: 'request_malformed' },
  );
});

t.test('a body announced over the limit is refused before any of it has come', async (t) => {
  const body = open(undefined, undefined, 6);
  await t.rejects(body.whole(5), { code: 'body_too_large', facts: { limit_bytes: 5 } });
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

t.test('no Tenant has more than its own maximum, also where nobody else holds anything', async (t) => {
  const shares = { unproved: new SharedBytes(100), proved: new SharedBytes(100, 60) };
  const own = Array.from({ length: 3 }, () => open(undefined, shares));
  for (const body of own) body.proved('a cheap workspace');
  own[0]!.push(bytes(20), false);
  own[1]!.push(bytes(30), false);
  own[2]!.push(bytes(10), false);
  t.same(
    own.map(({ failure }) => failure),
    [undefined, undefined, undefined],
    'all of its own',
  );
  own[2]!.push(bytes(1), false);
  t.same(
    own.map(({ failure }) => failure !== undefined),
    [false, true, false],
    'its largest is refused',
  );
  own[2]!.push(bytes(20), true);
  const neighbour = open(undefined, shares);
  neighbour.proved('another workspace');
  neighbour.push(bytes(40), false);
  t.equal(neighbour.failure, undefined, 'there is room for others');
  t.equal(shares.proved.bytes, 91);
  for (const body of own) body.discard();
  t.equal(shares.proved.bytes, 40);
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

t.test('more than an unproved payer may send is taken once the payment is proved', async (t) => {
  const shares = small();
  const body = open(undefined, shares);
  let asked = 0;
  let prove!: (owner: string) => void;
  body.proveBefore(10, () => {
    asked += 1;
    return new Promise((resolve) => {
      prove = resolve;
    });
  });
  const pieces = body.pieces({ kept: true });
  body.push(bytes(8), false);
  t.equal((await pieces.next()).value?.byteLength, 8);
  t.equal(asked, 0);
  body.push(bytes(8), true);
  const second = pieces.next();
  await null;
  t.equal(asked, 1);
  prove('payer');
  t.equal((await second).value?.byteLength, 8);
  t.same([shares.unproved.bytes, shares.proved.bytes], [0, 16]);
});

t.test('an announced body is proved before any of it is read, and a refusal is its failure', async (t) => {
  const refusal = new Error('no money');
  const body = open(undefined, undefined, 11);
  body.proveBefore(10, () => Promise.reject(refusal));
  body.push(bytes(5), false);
  await t.rejects(body.whole(100), refusal);
  t.equal(body.failure, refusal);
});

t.test('an unproved body over its share is kept where its payment turns out to be good', async (t) => {
  const shares = { unproved: new SharedBytes(100), proved: new SharedBytes(200) };
  const [good, bad] = [open(undefined, shares), open(undefined, shares)];
  good.proveBefore(1000, async () => 'payer');
  bad.proveBefore(1000, () => Promise.reject(new Error('no money')));
  good.push(bytes(60), false);
  open(undefined, shares).push(bytes(50), false);
  const whole = good.whole(1000);
  good.push(bytes(5), true);
  t.equal((await whole).byteLength, 65);
  t.equal(shares.proved.bytes, 65);
  bad.push(bytes(70), false);
  await t.rejects(bad.whole(1000), { message: 'no money' });
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
