/**
 * The other server of `make bench-pay`: Express with @x402/express around a handler that hands a search on to Farthing's own free
 * (workspace) search. `POST /free` is the handler alone, `POST /paid` the same behind the payment middleware.
 * Environment: FACILITATOR, SEARCH_URL, SEARCH_TOKEN, PAY_TO. Prints its address as one line of JSON.
 */
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';

const { FACILITATOR, SEARCH_URL, SEARCH_TOKEN, PAY_TO } = process.env;
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const facilitator = new HTTPFacilitatorClient({ url: FACILITATOR });
const resources = new x402ResourceServer(facilitator).register('eip155:8453', new ExactEvmScheme());
const accepts = {
  scheme: 'exact',
  network: 'eip155:8453',
  payTo: PAY_TO,
  price: { amount: '6000', asset: USDC, extra: { name: 'USD Coin', version: '2' } },
  maxTimeoutSeconds: 300,
};

async function search(request, response) {
  const answer = await fetch(SEARCH_URL, {
    method: 'POST',
    headers: { Authorization: `Bearer ${SEARCH_TOKEN}` },
    body: JSON.stringify(request.body),
  });
  response.status(answer.status).json(await answer.json());
}

const app = express();
app.use(express.json({ type: () => true }));
app.use(paymentMiddleware({ 'POST /paid': { accepts, description: 'A search' } }, resources));
app.post('/free', search);
app.post('/paid', search);
const server = app.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${server.address().port}` }));
});
// The process that started it is gone when its end of this pipe is closed.
process.stdin.on('end', () => process.exit(0)).resume();
