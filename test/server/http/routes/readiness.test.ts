import { createServer } from 'node:http';
import t from 'tap';
import { PAY_TO } from '../../../payment/rig/payments.ts';
import { listening } from '../../../rig/ports.ts';
import { startTestServer } from '../../../rig/test-server.ts';

/** `/readyz` while nothing can be sold. */

async function readyzOf(facilitator: string) {
  const server = await startTestServer(t, { FACILITATOR: facilitator, PAY_TO });
  const response = await fetch(`${server.url}/readyz`);
  return { status: response.status, body: (await response.json()) as object };
}

t.test('a server whose facilitator settles elsewhere, or is away, is not ready and says why', async (t) => {
  let network = 'eip155:84532';
  const facilitator = createServer((request, response) => {
    const kinds = [{ x402Version: 2, scheme: 'exact', network }];
    const verdict = { isValid: false, invalidReason: 'insufficient_funds' };
    response.end(JSON.stringify(request.url === '/verify' ? verdict : { kinds }));
  });
  const { url } = await listening(t, facilitator);
  const reasons = [/^Nothing can be sold: .*: it does not settle "exact" payments on eip155:8453\.$/];
  t.match(await readyzOf(url), { status: 503, body: { reasons } });
  t.match(await readyzOf('http://127.0.0.1:9'), {
    status: 503,
    body: { reasons: [/^Nothing can be sold: .*ECONNREFUSED\.$/] },
  });
  network = 'eip155:8453';
  t.match(await readyzOf(url), { status: 200 });
  t.match(await readyzOf(`http://127.0.0.1:9,${url}`), { status: 200 }, 'one of two is enough');
});
