import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { startTestServer } from '../../../rig/test-server.ts';

const { host, port } = await startTestServer(t);

t.test('an answer without a body leaves its connection to the next request', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const asked = request({ host, port, agent, method, path, headers });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return { status: answer.statusCode, headers: answer.headers, reused: asked.reusedSocket };
  };
  const whole = await ask('GET', '/agents.md');
  const known = { 'If-None-Match': whole.headers.etag ?? '' };
  for (const [method, headers, status] of [
    ['HEAD', {}, 200],
    ['HEAD', known, 304],
    ['GET', known, 304],
    ['GET', {}, 200],
  ] as const) {
    t.match(await ask(method, '/agents.md', headers), {
      status,
      reused: true,
      headers: { 'content-length': whole.headers['content-length'] },
    });
  }
});
