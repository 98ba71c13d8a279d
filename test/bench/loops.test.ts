import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Connections } from '../../bench/rig/connections.ts';
import { runLoop } from '../../bench/rig/loops.ts';
import { usageOf } from '../../bench/rig/process-tree.ts';

const never = new AbortController().signal;

t.test('an open loop sends on, answered or not, and counts from the moment that was meant', async (t) => {
  const due: number[] = [];
  let release: () => void = () => {};
  const stalled = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running = runLoop(
    { perSecond: 100 },
    0.2,
    async (moment) => {
      due.push(moment);
      if (due.length === 20) release();
      await stalled;
    },
    never,
  );
  await running;
  t.equal(due.length, 20, 'all are sent although the first is answered after the last is sent');
  due.forEach((moment, index) => {
    t.ok(
      Math.abs(moment - due[0]! - index * 10) < 1e-6,
      `the ${index}. is due at its time whatever happened before`,
    );
  });
});

t.test(
  'a closed loop has one request of each client at a time, and ends when there is nothing more',
  async (t) => {
    const over = new AbortController();
    let [running, most, sent] = [0, 0, 0];
    await runLoop(
      { clients: 3 },
      3600,
      async () => {
        sent += 1;
        if (sent >= 30) over.abort();
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
      },
      over.signal,
    );
    t.equal(most, 3);
    t.ok(sent >= 30 && sent <= 32);
  },
);

t.test('connections are kept, shared and replaced when the server closes them', async (t) => {
  let opened = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      if (request.url === '/last') response.setHeader('Connection', 'close');
      response.setHeader('Content-Length', '2').end('ok');
    });
  });
  const closed = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      opened += 1;
      socket.once('close', () => resolve());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const connections = new Connections(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 2);
  t.teardown(() => connections.close());
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => connections.send('POST', '/', {}, 'x')));
  t.ok(answers.every(({ status, body }) => status === 200 && body === 'ok'));
  t.equal(opened, 2, 'the others waited for one of two');
  await connections.send('POST', '/last', {}, '');
  await closed;
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  t.equal((await connections.send('POST', '/', {}, '')).status, 200);
});

t.test('what a process uses is counted with its children', async (t) => {
  const used = usageOf(process.pid);
  t.ok(used.processes >= 1 && used.anonymousMib > 1 && used.openFiles > 2 && used.cpuSeconds > 0);
  t.same(usageOf(2 ** 30), { cpuSeconds: 0, anonymousMib: 0, residentMib: 0, openFiles: 0, processes: 1 });
});
