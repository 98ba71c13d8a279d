import t from 'tap';
import { encodeFrame, type Frame, FrameReader } from '../../../src/readers/process/messages.ts';
import { readReply } from '../../../src/readers/process/read-reply.ts';

t.test('frames come out whole, however the pipe cuts them', async (t) => {
  const bytes = Buffer.concat([
    ...encodeFrame({ one: 'ü' }, Buffer.from('body')),
    ...encodeFrame({ two: 2 }),
    ...encodeFrame({ three: 3 }, Buffer.alloc(1000, 7)),
  ]);
  for (const step of [1, 2, 7, 13, 100, bytes.length]) {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length; at += step)
      frames.push(...reader.push(bytes.subarray(at, at + step)));
    t.same(
      frames.map(({ header }) => header),
      [{ one: 'ü' }, { two: 2 }, { three: 3 }],
    );
    t.same(
      frames.map(({ body }) => body.length),
      [4, 0, 1000],
    );
    t.equal(frames[0]?.body.toString(), 'body');
  }
});

t.test('a frame over the limit and a broken header are errors', async (t) => {
  t.throws(() => [...new FrameReader().push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))], RangeError);
  t.throws(() => [...new FrameReader().push(Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0x7b]))], SyntaxError);
});

t.test('a message of a wrong shape is refused: its sender may have been taken over', async (t) => {
  const none = Buffer.alloc(0);
  for (const header of [
    null,
    'text',
    [],
    {},
    { reply: 'other' },
    { reply: 'progress' },
    { reply: 'progress', fraction: 'x' },
    { reply: 'blocks', blocks: {} },
    { reply: 'blocks', blocks: [{ text: 1 }] },
    { reply: 'blocks', blocks: [{ text: '', page: -1 }] },
    { reply: 'ready' },
    { reply: 'picture', width: 1, height: 1, lengths: [1, 1, 32] },
    { reply: 'picture', width: 1, height: 1, lengths: [0, -32, 32] },
    { reply: 'done', fileInfo: { kind: 'program', mediaType: 'x' } },
    { reply: 'done', title: {} },
    { reply: 'done', notRead: [{ what: 'wishes', why: 'limit' }] },
    { reply: 'done', notRead: [{ what: 'charts', why: 'limit', count: -1 }] },
    { reply: 'done', fileInfo: { kind: 'text', mediaType: 'x', charset: { name: '<b>', guessed: true } } },
    { reply: 'refused', code: 'x', facts: {} },
  ]) {
    t.throws(() => readReply(header, none), TypeError, JSON.stringify(header));
  }
  t.match(readReply({ reply: 'refused', code: '__proto__', detail: 'x', facts: {} }, none), {
    error: { code: 'extraction_failed' },
  });
});
