import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';
import { spawnBuilt } from './built-process.ts';

/** How a server ends: what runs is answered, what is new is refused, and a deadline ends what does not. */

/** Reads until what has come matches; the connection's end counts as a match of nothing. */
async function until(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    text += piece;
    if (pattern.test(text)) return text;
  }
  return text;
}

function open(t: Test, port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  t.teardown(() => socket.destroy());
  return socket;
}

t.test('a stop answers what runs, and tells load balancers first', async (t) => {
  const server = await startTestServer(t, { STOP_NOTICE_SECONDS: '3' });
  const workspace = await new TestAgent(server.url).rent();
  const upload = open(t, server.port);
  const content = 'Tides follow the moon.';
  const path = `/agent/v1/workspaces/${workspace.id}/ingest`;
  upload.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.token}\r\nPrefer: wait=60\r\nContent-Length: ${content.length}\r\n\r\n`,
  );
  upload.write(content.slice(0, 5));
  const watcher = open(t, server.port);
  const ready = async () => {
    watcher.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    return until(watcher, /"prices_usd":\{[^}]*\}/);
  };
  t.match(await ready(), /^HTTP\/1\.1 200 /);
  const stopped = server.stop();
  const refusal = await ready();
  t.match(refusal, /^HTTP\/1\.1 503 /);
  t.match(refusal, /"reasons":\["The server is stopping\."\]/);
  const answer = until(upload, /"charged"/);
  upload.write(content.slice(5));
  t.match(await answer, /^HTTP\/1\.1 200 /, 'the upload that ran is answered');
  await stopped;
  await t.rejects(fetch(`${server.url}/healthz`), 'nobody listens any more');
});

for (const [held, status] of [
  [false, 0],
  [true, 1],
] as const) {
  t.test(
    `SIGTERM ends the process with ${status} ${held ? 'at its deadline' : 'when nothing runs'}`,
    async (t) => {
      const { child, ended } = spawnBuilt(t, {
        DEMO: '0',
        STOP_SECONDS_MAX: held ? '1' : '3600',
        // Most of them are still opening their models by then.
        INGEST_WORKERS: '8',
      });
      const lines = createInterface(child.stdout!);
      let url = '';
      for await (const line of lines) {
        if (!line.includes('"event":"ready"')) continue;
        url = (JSON.parse(line) as { url: string }).url;
        break;
      }
      const logged = text(child.stdout!);
      if (held) {
        const workspace = await new TestAgent(url).rent();
        const upload = open(t, Number(new URL(url).port));
        upload.on('error', () => undefined);
        upload.write(
          `POST /agent/v1/workspaces/${workspace.id}/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.token}\r\nContent-Length: 100\r\n\r\nTides`,
        );
        // Its turn has come when the one after it is answered.
        await fetch(`${url}/healthz`);
      }
      child.kill('SIGTERM');
      const [code] = await ended;
      t.equal(code, status);
      t.match(
        await logged,
        held ? '"event":"stop_deadline"' : '"event":"stopped"',
        'the log has its last line',
      );
    },
  );
}
