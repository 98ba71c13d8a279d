import { generateKeyPairSync } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { BASE_USDC } from '../../../../src/payment/asset.ts';
import { sales } from '../../../../src/server/operator/doctor/sales.ts';
import { screenOf } from '../../../../src/server/operator/finding.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { listening } from '../../../rig/ports.ts';

/** The doctor's screen for set-ups that could sell nothing: each names the fault, and what to do about it. */

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
  readonly body?: object;
}

async function serve(t: Test, answer: (asked: Asked, key?: string) => Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    const sent = (await request.toArray()).join('');
    const asked = sent === '' ? {} : JSON.parse(sent);
    const { status = 200, headers = {}, body = {} } = answer(asked, request.headers.authorization);
    response.writeHead(status, headers).end(JSON.stringify(body));
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
/** A facilitator that settles here. */
const SELLS: Answer = { body: { kinds: [KIND] } };
const facilitator = (t: Test, answer = SELLS) => serve(t, () => answer);

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

/** Settings, and the screen's text about them, in this order. */
type SetUp = readonly [(t: Test) => Promise<Readonly<Record<string, string>>>, RegExp];

const to = (PAY_TO: string) => (t: Test) => through(t, SELLS, { PAY_TO });
const answers = (answer: Answer) => (t: Test) => through(t, answer);
const node = (told: Readonly<Record<string, unknown>>) => (t: Test) => self(t, told);

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'a mistyped wallet': [
    to(PAY_TO.replace('5aA', '5AA')),
    /problem pay to .*\(EIP-55\).* → Set FARTHING_PAY_TO/,
  ],
  'a wallet that is nobody’s': [to(`0x${'0'.repeat(40)}`), /problem pay to .* zero address/],
  'the coin in place of a wallet': [to(BASE_USDC.displayedAddress), /problem pay to .* contract of USDC/],
  'a facilitator that is away': [
    async (t) => ({ FACILITATOR: `http://127.0.0.1:9,${await facilitator(t)}` }),
    /problem facilitator HOST .*ECONNREFUSED .* ok facilitator HOST settles on eip155:8453/,
  ],
  'an address where no facilitator is': [answers({ status: 404 }), /problem facilitator HOST answers 404/],
  'another service in place of a facilitator': [
    answers({ body: { hello: 1 } }),
    /problem facilitator HOST answers 200 .* → Check the path in FARTHING_FACILITATOR/,
  ],
  'a facilitator of testnets': [
    answers({ body: { kinds: [{ ...KIND, network: 'eip155:84532' }] } }),
    /problem facilitator HOST settles on eip155:84532, not on eip155:8453/,
  ],
  'a key that the facilitator refuses': [
    answers({ status: 401 }),
    /problem facilitator HOST .*401 → .*FARTHING_CDP_KEY_SECRET_FILE/,
  ],
  'an address that moved': [
    answers({ status: 308, headers: { location: 'https://new.example/supported' } }),
    /problem facilitator HOST redirects to https:\/\/new\.example\/supported/,
  ],
  'a node of another chain': [node({ eth_chainId: hex(1) }), /problem chain HOST .* chain 1, not of 8453/],
  'a node without its log': [node({ eth_getLogs: undefined }), /warning chain HOST .*eth_getLogs/],
  'a clock that the facilitator contradicts': [
    (t) => through(t, { ...SELLS, headers: { Date: new Date(Date.now() - 3_600_000).toUTCString() } }),
    /problem clock N s .* → .*synchronisation/,
  ],
  'a node that is behind': [
    node({ eth_getBlockByNumber: block({ ageS: 600 }) }),
    /problem clock of the chain .* HOST is N s old/,
  ],
  'a node of a chain without the coin': [node({ eth_getCode: '0x' }), /problem chain HOST has no USDC/],
  'a node that is away': [
    (t) => through(t, SELLS, { RPC_URL: 'http://127.0.0.1:9/v2/secret-of-a-plan' }),
    /problem chain HOST: .*ECONNREFUSED → Check FARTHING_RPC_URL/,
  ],
  'no node': [
    async (t) => ({ FACILITATOR: await facilitator(t) }),
    /warning chain no node: .* → Set FARTHING_RPC_URL/,
  ],
  'a gas wallet without ETH': [
    node({ eth_getBalance: '0x0' }),
    new RegExp(`problem gas wallet .* 0 ETH.* → Send ETH on Base to ${GAS_WALLET}`),
  ],
  'fees over the limit': [
    node({ eth_getBlockByNumber: block({ baseFeePerGas: 3_000_000_000 }) }),
    /problem gas wallet .* 3 gwei, and FARTHING_GAS_FEE_GWEI_MAX is 0\.1/,
  ],
  'fees over some prices': [
    node({ eth_getBlockByNumber: block({ baseFeePerGas: 15_000_000 }) }),
    /warning margin .*0\.00432 USD now \(ETH at 3000 USD, by its feed on the chain\).*: search 0\.00168, .*Not sold for coins on the chain: item → Wait/,
  ],
  'a chain without the price of its coin': [
    node({ eth_call: '0x' }),
    /warning margin .*at 10000 USD, assumed.*→ /,
  ],
  'a gas wallet that is paid, too': [
    (t) => self(t, {}, { PAY_TO: GAS_WALLET }),
    /problem gas wallet FARTHING_GAS_KEY: is the key of FARTHING_PAY_TO/,
  ],
  'a gas key that everybody may read': [
    async (t) => {
      const file = join(t.testdir({ 'gas.key': KEY }), 'gas.key');
      chmodSync(file, 0o644);
      return { ...(await self(t)), GAS_KEY: '', GAS_KEY_FILE: file };
    },
    /warning gas key every user of this machine may read/,
  ],
  'a gas key that is none': [
    (t) => self(t, {}, { GAS_KEY: '0x1234' }),
    /problem gas wallet FARTHING_GAS_KEY: .*64 hexadecimal digits/,
  ],
};

const words = (screen: string) =>
  screen
    .replaceAll(/(http:\/\/)?127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\b\d+ s\b/g, 'N s')
    .split(/\s+/)
    .join(' ');

async function screen(settings: Readonly<Record<string, string>>): Promise<string> {
  return words(screenOf(await sales(readConfig(environmentOf({ PAY_TO, ...settings })))));
}

for (const [name, [settings, expected]] of Object.entries(SET_UPS))
  t.test(name, async (t) => {
    const shown = await screen(await settings(t));
    t.match(shown, expected);
    t.notOk(shown.includes(KEY.slice(2)) || shown.includes('secret-of-a-plan'), 'no key');
  });

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
  const url = await serve(t, (_, key) => {
    keys.push(key);
    return SELLS;
  });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const CDP_KEY_SECRET = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  t.match(await screen({ FACILITATOR: `cdp@${url}`, CDP_KEY_ID: 'id', CDP_KEY_SECRET }), /ok facilitator/);
  t.match(keys, [/^Bearer ey/]);
});
