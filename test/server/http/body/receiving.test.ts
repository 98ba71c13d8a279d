import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { RequestBody } from '../../../../src/server/http/body/body.ts';
import { Receiving } from '../../../../src/server/http/body/receiving.ts';
import { sharesOf } from '../../../../src/server/http/body/shared-bytes.ts';

const MEBIBYTE = 2 ** 20;

/** A body among those that are received, whose reader keeps up. */
function receive(receiving: Receiving, owner?: string) {
  const socket = { isPaused: false };
  const source = {
    pause: () => {
      socket.isPaused = true;
    },
    resume: () => {
      socket.isPaused = false;
    },
  };
  const body = new RequestBody(source, {
    shares: sharesOf(1024 * MEBIBYTE),
    onBytes: (of, bytes) => receiving.took(of, bytes),
  });
  if (owner) body.proved(owner);
  receiving.add(body);
  const read = (async () => {
    for await (const _ of body.pieces());
  })();
  read.catch(() => undefined);
  return { socket, body, push: (bytes: number, last = false) => body.push(new ArrayBuffer(bytes), last) };
}

t.test('bodies wait for later turns when enough came in one, and all are read in the end', async (t) => {
  const receiving = new Receiving();
  const bodies = Array.from({ length: 20 }, () => receive(receiving));
  for (const { push } of bodies.slice(0, 2)) push(MEBIBYTE / 2);
  await null;
  t.ok(
    bodies.every(({ socket }) => socket.isPaused),
    'those that sent, and those that would have',
  );
  const flowing = () => bodies.filter(({ socket }) => !socket.isPaused).length;
  const seen: number[] = [];
  while (flowing() < bodies.length) {
    await nextTurn();
    seen.push(flowing());
  }
  t.same(seen, [4, 8, 12, 16, 20]);
});

t.test('a little in a turn holds nobody back', async (t) => {
  const receiving = new Receiving();
  const bodies = Array.from({ length: 20 }, () => receive(receiving));
  for (const { push } of bodies) push(50 * 1024);
  await null;
  t.notOk(bodies.some(({ socket }) => socket.isPaused));
});

t.test('a body that begins in a full turn waits with the others', async (t) => {
  const receiving = new Receiving();
  receive(receiving).push(MEBIBYTE);
  const late = receive(receiving);
  late.push(1000);
  await null;
  t.ok(late.socket.isPaused);
});

t.test('senders take turns: one with many bodies does not keep another waiting', async (t) => {
  const receiving = new Receiving();
  const many = Array.from({ length: 30 }, () => receive(receiving));
  const one = receive(receiving, 'workspace');
  many[0]!.push(MEBIBYTE);
  await nextTurn();
  t.notOk(one.socket.isPaused);
  t.equal(many.filter(({ socket }) => !socket.isPaused).length, 3);
});

t.test('a body that is over is forgotten, and its socket flows', async (t) => {
  const receiving = new Receiving();
  const bodies = Array.from({ length: 10 }, () => receive(receiving));
  bodies[0]!.push(MEBIBYTE);
  t.ok(bodies[1]!.socket.isPaused);
  for (const { body } of bodies.slice(0, 9)) {
    body.discard();
    receiving.delete(body);
  }
  t.notOk(bodies[1]!.socket.isPaused);
  await nextTurn();
  t.notOk(bodies[9]!.socket.isPaused, 'the others took no turn');
});

t.test('what is given up ends a few in each turn', async (t) => {
  const receiving = new Receiving();
  const bodies = Array.from({ length: 10 }, () => receive(receiving));
  const ended = () => bodies.filter(({ body }) => body.failure !== undefined).length;
  const over = receiving.giveUp(
    (body) => body !== bodies[3]!.body,
    () => new Error('too slow'),
  );
  bodies[9]!.push(10, true);
  const seen = [ended()];
  while (seen.length < 3) {
    await nextTurn();
    seen.push(ended());
  }
  await over;
  t.same(seen, [4, 8, 8]);
  t.equal(bodies[9]!.body.failure, undefined, 'it was complete when its turn came');
});
