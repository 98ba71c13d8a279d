import { privateKeyToAccount } from 'viem/accounts';

/**
 * Five purchases by a published client of x402, unmodified: `five-purchases.mjs CLIENT URL NETWORK KEY`, from the folder where the client
 * is installed. Prints a line of JSON for each: what, the status, and the transaction of the receipt.
 */

const [, , name, url, network, key] = process.argv;
const account = privateKeyToAccount(key);

async function v2Client() {
  const { x402Client } = await import('@x402/fetch');
  const { ExactEvmScheme } = await import('@x402/evm');
  return new x402Client().register(network, new ExactEvmScheme(account));
}

function overFetch(pay) {
  return async (method, path, body, headers) => {
    const answer = await pay(url + path, { method, body, headers });
    return { status: answer.status, json: await answer.json(), receipt: (key) => answer.headers.get(key) };
  };
}

async function overAxios(wrap) {
  const { default: axios } = await import('axios');
  const api = await wrap(axios.create({ baseURL: url }));
  return async (method, path, data, headers) => {
    const answer = await api.request({ method, url: path, data, headers });
    return { status: answer.status, json: answer.data, receipt: (key) => answer.headers[key] };
  };
}

const CLIENTS = {
  '@x402/fetch': async () =>
    overFetch((await import('@x402/fetch')).wrapFetchWithPayment(fetch, await v2Client())),
  '@x402/axios': () =>
    overAxios(async (api) => (await import('@x402/axios')).wrapAxiosWithPayment(api, await v2Client())),
  'x402-fetch': async () => overFetch((await import('x402-fetch')).wrapFetchWithPayment(fetch, account)),
  'x402-axios': () =>
    overAxios(async (api) => (await import('x402-axios')).withPaymentInterceptor(api, account)),
};

const send = await CLIENTS[name]();

async function buy(what, method, path, body, headers = {}) {
  const { status, json, receipt } = await send(method, `/agent/v1${path}`, body, headers);
  const { transaction } = JSON.parse(atob(receipt('payment-response') ?? receipt('x-payment-response')));
  console.log(JSON.stringify({ what, status, transaction }));
  return json;
}

const text = { 'Content-Type': 'text/plain', Prefer: 'wait=60' };
const json = { 'Content-Type': 'application/json' };
const { item } = await buy('ingest', 'POST', '/ingest', `${name} counts gulls.`, text);
await buy('search', 'POST', '/search', '{"query":"who counts gulls?"}', json);
await buy('item', 'GET', `/items/${item.id}`);
const { id } = await buy('workspace', 'POST', '/workspaces', '{"ttl_minutes":20}', json);
await buy('extend', 'POST', `/workspaces/${id}/extend`, '{"ttl_minutes":10}', json);
