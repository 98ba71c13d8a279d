import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { BASE_USDC } from '../../../../src/payment/asset.ts';
import { PrepaidBalances } from '../../../../src/payment/prepaid/balances.ts';
import type { Finding } from '../../../../src/protocol/schema/operator.ts';
import { Owners } from '../../../../src/queues/owners.ts';
import { sales } from '../../../../src/server/operator/doctor/sales.ts';
import { screenOf } from '../../../../src/server/operator/finding.ts';
import { ConfigError, readConfig } from '../../../../src/server/settings/config.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { openPayments } from '../../../../src/server/wiring/payments.ts';
import { prepaidTerms } from '../../../../src/server/wiring/prepaid-terms.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { listening } from '../../../rig/ports.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';

/**
 * Set-ups that could sell nothing, or not as they should: the start, the doctor and `/readyz` name the fault, as the table of
 * docs/facilitator-failures.md has it.
 */

const KEY = `0x${'7'.repeat(64)}` as const;
const GAS_WALLET = privateKeyToAddress(KEY);
const PAY_TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const KIND = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
const hex = (number: number | bigint) => `0x${number.toString(16)}`;

interface Asked {
  readonly method?: string;
  readonly params?: readonly unknown[];
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

async function serve(
  t: Test,
  answer: (asked: Asked, request: { key?: string; call: string }) => Answer | 'silence',
): Promise<string> {
  const server = createServer(async (request, response) => {
    const sent = (await request.toArray()).join('');
    const asked = sent === '' ? {} : JSON.parse(sent);
    const told = answer(asked, { key: request.headers.authorization, call: request.url!.slice(1) });
    if (told === 'silence') return;
    const { status = 200, body = {} } = told;
    const headers = { 'content-type': 'application/json', ...told.headers };
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return (await listening(t, server)).url;
}

/** The answer of the contract that tells ETH's price. */
const feed = (usd: number) => {
  const words = [1, usd * 1e8, Math.floor(Date.now() / 1000), Math.floor(Date.now() / 1000), 1];
  return `0x${words.map((value) => value.toString(16).padStart(64, '0')).join('')}`;
};

/** A node's answers, as Base's are. */
const NODE: Readonly<Record<string, unknown>> = {
  eth_chainId: hex(8453),
  eth_getCode: '0x60',
  eth_getTransactionCount: '0x0',
  eth_getBalance: hex(10n ** 16n),
  eth_getLogs: [],
  eth_call: ({ to }: { to: string }) => (to === BASE_USDC.gas.usdFeed ? feed(3000) : '0x'),
};
const block = ({ ageS = 1, baseFeePerGas = 5_000_000 } = {}) => ({
  number: hex(1000),
  timestamp: hex(Math.floor(Date.now() / 1000) - ageS),
  baseFeePerGas: hex(baseFeePerGas),
});

const serveNode = (t: Test, otherwise: Readonly<Record<string, unknown>> = {}) =>
  serve(t, ({ method = '', params = [] }) => {
    const told: unknown = { ...NODE, eth_getBlockByNumber: block(), ...otherwise }[method];
    const result = typeof told === 'function' ? told(...params) : told;
    return { body: result === undefined ? { error: { message: 'not on this plan' } } : { result } };
  });
/** A facilitator that settles here, and says of a wallet without money what it should. */
const SELLS: Answer = { body: { kinds: [KIND] } };
const NO_MONEY: Answer = { body: { isValid: false, invalidReason: 'insufficient_funds' } };
const facilitator = (t: Test, supported: Answer | 'silence' = SELLS, verify: Answer | 'silence' = NO_MONEY) =>
  serve(t, (_, { call }) => (call === 'verify' ? verify : supported));
const HTML: Answer = { headers: { 'content-type': 'text/html' }, body: '<html>Log in</html>' };

const self = async (t: Test, node: Readonly<Record<string, unknown>> = {}, settings = {}) => ({
  FACILITATOR: 'self',
  GAS_KEY: KEY,
  RPC_URL: await serveNode(t, node),
  ...settings,
});
const through = async (t: Test, answer: Answer, settings = {}) => ({
  FACILITATOR: await facilitator(t, answer),
  RPC_URL: await serveNode(t),
  ...settings,
});

const verifies = (answer: Answer | 'silence') => async (t: Test) => ({
  FACILITATOR: await facilitator(t, SELLS, answer),
  RPC_URL: await serveNode(t),
});
const to = (PAY_TO: string) => (t: Test) => through(t, SELLS, { PAY_TO });
const answers = (answer: Answer) => (t: Test) => through(t, answer);
const node = (told: Readonly<Record<string, unknown>>) => (t: Test) => self(t, told);

type SetUp = (t: Test) => Promise<Readonly<Record<string, string>>>;

/** In the order of the table. */
const SET_UPS: Readonly<Record<string, SetUp>> = {
  'a mistyped wallet': to(PAY_TO.replace('5aA', '5AA')),
  'nobody’s wallet': to(`0x${'0'.repeat(40)}`),
  'the coin as the wallet': to(BASE_USDC.displayedAddress),
  'a facilitator that is away': async (t) => ({
    FACILITATOR: 'http://127.0.0.1:9',
    RPC_URL: await serveNode(t),
  }),
  'the first of two is away': async (t) => ({
    FACILITATOR: `http://127.0.0.1:9,${await facilitator(t)}`,
    RPC_URL: await serveNode(t),
  }),
  'a wrong path': answers({ status: 404 }),
  'a web page': answers(HTML),
  'another service': answers({ body: { hello: 1 } }),
  'a facilitator of testnets': answers({ body: { kinds: [{ ...KIND, network: 'eip155:84532' }] } }),
  'an address that moved': answers({ status: 308, headers: { location: 'https://new.example/supported' } }),
  'a key that is refused': answers({ status: 401, body: { errorMessage: 'no such key' } }),
  'a key that may not verify': verifies({ status: 403, body: { errorMessage: 'not allowed' } }),
  'too many calls': verifies({ status: 429, headers: { 'retry-after': '30' }, body: { error: 'slow down' } }),
  'verifications fail with 500': verifies({ status: 500, body: { error: 'no node' } }),
  'a proxy before /verify': verifies(HTML),
  'a facilitator that refuses the network': verifies({
    body: { isValid: false, invalidReason: 'invalid_network', invalidMessage: 'not enabled' },
  }),
  'a facilitator with trouble of its own': verifies({
    body: { isValid: false, invalidReason: 'unexpected_verify_error' },
  }),
  'a facilitator that finds all good': verifies({ body: { isValid: true } }),
  'a clock that is wrong': (t) =>
    through(t, { ...SELLS, headers: { Date: new Date(Date.now() - 3_600_000).toUTCString() } }),
  'no node': async (t) => ({ FACILITATOR: await facilitator(t) }),
  'a node that is away': (t) => through(t, SELLS, { RPC_URL: 'http://127.0.0.1:9/v2/secret-of-a-plan' }),
  'a node of another chain': node({ eth_chainId: hex(1) }),
  'a node without its log': node({ eth_getLogs: undefined }),
  'a node that is behind': node({ eth_getBlockByNumber: block({ ageS: 600 }) }),
  'a node of a chain without the coin': node({ eth_getCode: '0x' }),
  'a gas wallet without ETH': node({ eth_getBalance: '0x0' }),
  'fees over the limit': node({ eth_getBlockByNumber: block({ baseFeePerGas: 3_000_000_000 }) }),
  'fees over some prices': node({ eth_getBlockByNumber: block({ baseFeePerGas: 15_000_000 }) }),
  'a chain without the price of its coin': node({ eth_call: '0x' }),
  'a gas wallet that is paid, too': (t) => self(t, {}, { PAY_TO: GAS_WALLET }),
  'a gas key that everybody may read': async (t) => {
    const file = join(t.testdir({ 'gas.key': KEY }), 'gas.key');
    chmodSync(file, 0o644);
    return { ...(await self(t)), GAS_KEY: '', GAS_KEY_FILE: file };
  },
  'a gas key that is none': (t) => self(t, {}, { GAS_KEY: '0x1234' }),
};

const words = (screen: string) =>
  screen
    .replaceAll(/\S+\/gas\.key/g, 'FILE')
    .replaceAll(/(http:\/\/)?127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\b\d+ s\b/g, 'N s')
    .split(/\s+/)
    .join(' ');

/** Problems and warnings, without their remedies: a cell of the table. */
const faultsOf = (findings: readonly Finding[]) =>
  findings
    .filter(({ state }) => state !== 'ok')
    .map(({ check, state, found }) => `${state}: ${check}: ${found}`);

/** What the start says of the settings, and `/readyz` afterwards. */
async function started(t: Test, settings: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(t);
  const clock = { now: () => Date.now() };
  const store = openStore(join(folder, 'state'));
  t.teardown(() => store.close());
  try {
    const read = readConfig(environmentOf({ PAY_TO, ...settings }));
    const payments = await openPayments({
      settings: read,
      data: folder,
      clock,
      owners: new Owners(),
      tenants: { folder: () => folder },
      log: () => undefined,
      observe: () => undefined,
      sign: () => '',
    });
    t.teardown(() => payments.close());
    const balances = new PrepaidBalances({ store, clock, ...prepaidTerms(read) });
    const gate = payments.gate(store, {} as never, balances);
    await payments.connect();
    const { obstacle, trouble } = gate.health().facilitator;
    const ready = obstacle === undefined ? 'ready' : `503: ${obstacle}`;
    await gate.close();
    return ['starts', obstacle === undefined && trouble !== undefined ? `ready; ${trouble}` : ready];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [error.message, '–'];
  }
}

const DOCUMENT = join(import.meta.dirname, '../../../../docs/facilitator-failures.md');

async function screen(settings: Readonly<Record<string, string>>): Promise<string> {
  return words(screenOf(await sales(readConfig(environmentOf({ PAY_TO, ...settings })))));
}

for (const [name, setUp] of Object.entries(SET_UPS))
  t.test(`the start, the doctor and /readyz say what is wrong with ${name}`, async (t) => {
    const settings = await setUp(t);
    const findings = await sales(readConfig(environmentOf({ PAY_TO, ...settings })));
    const [start, ready] = await started(t, settings);
    const cells = [name, start!, faultsOf(findings).join('; ') || 'all ok', ready!];
    const row = `| ${cells.map((cell) => words(cell).replaceAll('|', '\\|')).join(' | ')} |`;
    t.ok(readFileSync(DOCUMENT, 'utf8').includes(`\n${row}\n`), row);
    for (const { state, remedy } of findings) t.equal(state === 'ok', remedy === undefined);
    const shown = screenOf(findings) + cells.join();
    t.notOk(shown.includes(KEY.slice(2)) || shown.includes('secret-of-a-plan'), 'no key');
  });

t.test(
  'a facilitator and a node that never answer delay the doctor by no more than five seconds',
  async (t) => {
    const silent = await serve(t, () => 'silence');
    const findings = await sales(readConfig(environmentOf({ PAY_TO, FACILITATOR: silent, RPC_URL: silent })));
    t.match(
      words(faultsOf(findings).join('; ')),
      /facilitator: HOST cannot be reached: no answer within \d+ ms; problem: chain: HOST/,
    );
  },
);

t.test('a server that settles itself, with all that it needs, is all ok', async (t) => {
  const shown = await screen(await self(t));
  t.notMatch(shown, /problem|warning/);
  t.match(shown, `${GAS_WALLET} has 0.01 ETH on Base, enough for 18518 settlements at the present fees`);
});

t.test('a facilitator that sells, and a wallet without a checksum, are all ok', async (t) => {
  for (const plain of [PAY_TO, PAY_TO.toLowerCase(), PAY_TO.toUpperCase().replace('0X', '0x')])
    t.notMatch(await screen(await through(t, SELLS, { PAY_TO: plain })), /problem|warning/);
});

t.test('a node that shows few blocks of its log is looked at so', async (t) => {
  const eth_getLogs = ({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }) =>
    Number(toBlock) - Number(fromBlock) < 5 ? [] : undefined;
  t.match(
    await screen(await self(t, { eth_getLogs })),
    /block 1000, -?N s old; its log in looks of 5 blocks/,
  );
});

t.test('the doctor signs its question as the server does', async (t) => {
  const keys: (string | undefined)[] = [];
  const url = await serve(t, (_, { key, call }) => {
    keys.push(key);
    return call === 'verify' ? NO_MONEY : SELLS;
  });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const CDP_KEY_SECRET = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  t.match(await screen({ FACILITATOR: `cdp@${url}`, CDP_KEY_ID: 'id', CDP_KEY_SECRET }), /ok facilitator/);
  t.match(keys, [/^Bearer ey/, /^Bearer ey/]);
  t.not(keys[0], keys[1], 'each call has its own');
});
