import t from 'tap';
import { errorCode } from '../../../src/domain/error.ts';
import { RequestBody } from '../../../src/http/exchange/body.ts';

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

const piece = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;

t.test('a body that came in pieces is whole, in order', async (t) => {
  const body = new RequestBody(new FakeSocket());
  body.push(piece('a'), false);
  const whole = body.whole(100);
  body.push(piece('b'), false);
  body.push(piece('c'), true);
  t.equal((await whole).toString(), 'abc');
});

t.test('the socket’s memory may be used again: pieces are copies', async (t) => {
  const body = new RequestBody(new FakeSocket());
  const memory = new Uint8Array([1, 2, 3]);
  body.push(memory.buffer, true);
  memory.fill(9);
  t.same([...(await body.whole(3))], [1, 2, 3]);
});

t.test('one byte over the limit is refused, the limit itself is not', async (t) => {
  const exact = new RequestBody(new FakeSocket());
  exact.push(piece('12345'), true);
  t.equal((await exact.whole(5)).byteLength, 5);
  const over = new RequestBody(new FakeSocket());
  over.push(piece('123456'), true);
  await t.rejects(over.whole(5), { code: 'body_too_large', facts: { limit_bytes: 5 } });
});

t.test('the socket is paused without a reader, and resumed for one', async (t) => {
  const socket = new FakeSocket();
  const body = new RequestBody(socket);
  body.push(new ArrayBuffer(300 * 1024), false);
  t.same(socket.calls, ['pause']);
  const whole = body.whole(1e6);
  body.push(piece('end'), true);
  t.equal((await whole).byteLength, 300 * 1024 + 3);
  t.same(socket.calls, ['pause', 'resume']);
});

t.test('a client that leaves fails the reader, after the pieces that arrived', async (t) => {
  const body = new RequestBody(new FakeSocket());
  const whole = body.whole(100);
  body.push(piece('half'), false);
  body.fail(new Error('gone'));
  await t.rejects(whole, { message: 'gone' });
});

t.test('an empty body is empty, not endless', async (t) => {
  const body = new RequestBody(new FakeSocket());
  body.push(new ArrayBuffer(0), true);
  t.equal((await body.whole(0)).byteLength, 0);
});

t.test('a discarded body resumes the socket and cannot be read', async (t) => {
  const socket = new FakeSocket();
  const body = new RequestBody(socket);
  body.push(new ArrayBuffer(300 * 1024), false);
  body.discard();
  t.same(socket.calls, ['pause', 'resume']);
  await t.rejects(
    body.whole(10).catch((error) => Promise.reject(new Error(errorCode(error)))),
    { message: 'request_malformed' },
  );
});
