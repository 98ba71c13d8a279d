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

/** A node's answers, as Base's are. */
const NODE: Readonly<Record<string, unknown>> = {
  eth_chainId: hex(8453),
  eth_getCode: '0x60',
  eth_getTransactionCount: '0x0',
  eth_getBalance: hex(10n ** 16n),
  eth_maxPriorityFeePerGas: hex(1_000_000),
  eth_getLogs: [],
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
/** Of a facilitator that settles here. */
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

interface SetUp {
  readonly settings: (t: Test) => Promise<Readonly<Record<string, string>>>;
  /** Two lines of the screen, with any white space between words; HOST stands for addresses of this test, N for seconds. */
  readonly screen: string;
}

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'a mistyped wallet': {
    settings: (t) => through(t, SELLS, { PAY_TO: PAY_TO.replace('5aA', '5AA') }),
    screen: `problem pay to 0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed: its upper and lower case do not fit (EIP-55): a digit is wrong. Copy the address from the wallet again
      → Set FARTHING_PAY_TO to your wallet.`,
  },
  'a wallet that is nobody’s': {
    settings: (t) => through(t, SELLS, { PAY_TO: `0x${'0'.repeat(40)}` }),
    screen: `problem pay to 0x0000000000000000000000000000000000000000: nobody has the key of the zero address: name your wallet
      → Set FARTHING_PAY_TO to your wallet.`,
  },
  'the coin in place of a wallet': {
    settings: (t) => through(t, SELLS, { PAY_TO: BASE_USDC.displayedAddress }),
    screen: `problem pay to ${BASE_USDC.displayedAddress}: this is the contract of USDC itself, and money sent there is lost: name your wallet
      → Set FARTHING_PAY_TO to your wallet.`,
  },
  'a facilitator that is away': {
    settings: async (t) => ({ FACILITATOR: `http://127.0.0.1:9,${await facilitator(t)}` }),
    screen: `problem facilitator HOST cannot be reached: ECONNREFUSED
      → Check FARTHING_FACILITATOR and the network. ok facilitator HOST settles on eip155:8453 (x402 v2)`,
  },
  'an address where no facilitator is': {
    settings: (t) => through(t, { status: 404 }),
    screen: `problem facilitator HOST answers 404 where it should say what it settles
      → Check the path in FARTHING_FACILITATOR: /verify, /settle and /supported are below it.`,
  },
  'another service in place of a facilitator': {
    settings: (t) => through(t, { body: { hello: 1 } }),
    screen: `problem facilitator HOST answers 200 where it should say what it settles
      → Check the path in FARTHING_FACILITATOR: /verify, /settle and /supported are below it.`,
  },
  'a facilitator of testnets': {
    settings: (t) => through(t, { body: { kinds: [{ ...KIND, network: 'eip155:84532' }] } }),
    screen: `problem facilitator HOST settles on eip155:84532, not on eip155:8453
      → Name another facilitator, or set FARTHING_NETWORK.`,
  },
  'a key that the facilitator refuses': {
    settings: (t) => through(t, { status: 401 }),
    screen: `problem facilitator HOST refuses the key: 401
      → Check the key of this facilitator: FARTHING_CDP_KEY_SECRET_FILE, FARTHING_PAYAI_KEY_SECRET, or FARTHING_FACILITATOR_HEADER; and the clock.`,
  },
  'an address that moved': {
    settings: (t) => through(t, { status: 308, headers: { location: 'https://new.example/supported' } }),
    screen: `problem facilitator HOST redirects to https://new.example/supported, which is not followed
      → Write the address that it leads to into FARTHING_FACILITATOR, without /supported.`,
  },
  'a node of another chain': {
    settings: (t) => self(t, { eth_chainId: hex(1) }),
    screen: `problem chain HOST is a node of chain 1, not of 8453
      → Name a node of Base in FARTHING_RPC_URL, or set FARTHING_NETWORK.`,
  },
  'a node without its log': {
    settings: (t) => self(t, { eth_getLogs: undefined }),
    screen: `warning chain HOST refuses to show its log (The chain's node: eth_getLogs answered 200: not on this plan): a used nonce counts as settled, without its transaction
      → Use a plan with eth_getLogs, or name a second node in FARTHING_RPC_URL.`,
  },
  'a clock that the facilitator contradicts': {
    settings: (t) =>
      through(t, { ...SELLS, headers: { Date: new Date(Date.now() - 3_600_000).toUTCString() } }),
    screen: `problem clock N s from the facilitator's
      → Turn on time synchronisation (timedatectl set-ntp true).`,
  },
  'a node that is behind': {
    settings: (t) => self(t, { eth_getBlockByNumber: block({ ageS: 600 }) }),
    screen: `problem clock of the chain the newest block of HOST is N s old by this clock
      → The node is behind, or the clock is wrong: timedatectl set-ntp true, or another node.`,
  },
  'a node of a chain without the coin': {
    settings: (t) => self(t, { eth_getCode: '0x' }),
    screen: `problem chain HOST has no USDC
      → Name another node in FARTHING_RPC_URL.`,
  },
  'a node that is away': {
    settings: (t) => through(t, SELLS, { RPC_URL: 'http://127.0.0.1:9/v2/secret-of-a-plan' }),
    screen: `problem chain HOST: The chain's node: eth_chainId ECONNREFUSED
      → Check FARTHING_RPC_URL.`,
  },
  'no node': {
    settings: async (t) => ({ FACILITATOR: await facilitator(t) }),
    screen: `warning chain no node: the facilitator is believed
      → Set FARTHING_RPC_URL to a node of the chain; a free plan is enough.`,
  },
  'a clock that is slow': {
    settings: (t) => self(t, { eth_getBlockByNumber: block({ ageS: -100 }) }),
    screen: `problem clock of the chain this clock is N s behind the newest block of HOST
      → Turn on time synchronisation (timedatectl set-ntp true).`,
  },
  'a gas wallet without ETH': {
    settings: (t) => self(t, { eth_getBalance: '0x0' }),
    screen: `problem gas wallet the gas wallet ${GAS_WALLET.toLowerCase()} has 0 ETH, not enough for a settlement: send it some
      → Send ETH on Base to ${GAS_WALLET}.`,
  },
  'fees over the limit': {
    settings: (t) => self(t, { eth_getBlockByNumber: block({ baseFeePerGas: 3_000_000_000 }) }),
    screen: `problem gas wallet the network asks for 3 gwei, and FARTHING_GAS_FEE_GWEI_MAX is 0.1
      → Wait, or raise FARTHING_GAS_FEE_GWEI_MAX.`,
  },
  'a gas wallet that is paid, too': {
    settings: (t) => self(t, {}, { PAY_TO: GAS_WALLET }),
    screen: `problem gas wallet FARTHING_GAS_KEY: is the key of FARTHING_PAY_TO: make another one. A key on a server pays gas, and can lose no more than that
      → See docs/get-paid.md: a key of its own, in a file.`,
  },
  'a gas key that everybody may read': {
    settings: async (t) => {
      const file = join(t.testdir({ 'gas.key': KEY }), 'gas.key');
      chmodSync(file, 0o644);
      return { ...(await self(t)), GAS_KEY: '', GAS_KEY_FILE: file };
    },
    screen: 'warning gas key every user of this machine may read',
  },
  'a gas key that is none': {
    settings: (t) => self(t, {}, { GAS_KEY: '0x1234' }),
    screen: `problem gas wallet FARTHING_GAS_KEY: must be a private key: 64 hexadecimal digits. "openssl rand -hex 32" makes one
      → See docs/get-paid.md: a key of its own, in a file.`,
  },
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

for (const [name, { settings, screen: expected }] of Object.entries(SET_UPS))
  t.test(name, async (t) => {
    const shown = await screen(await settings(t));
    t.ok(shown.includes(words(expected)), `${shown} has ${expected}`);
    t.notOk(shown.includes(KEY.slice(2)) || shown.includes('secret-of-a-plan'), 'no key');
  });

t.test('a server that settles itself, with all that it needs, is all ok', async (t) => {
  const shown = await screen(await self(t));
  t.notMatch(shown, /problem|warning/);
  t.match(shown, `${GAS_WALLET} has 0.01 ETH on Base, enough for 20833 settlements at the present fees`);
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
