import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { sales } from '../../../src/operator/doctor/sales.ts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { listening } from '../../rig/ports.ts';

/** What the doctor says of set-ups that could sell nothing. */

const PAY_TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const BASE_KIND = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
const hex = (number: number) => `0x${number.toString(16)}`;
const nowS = () => Math.floor(Date.now() / 1000);

type Answer = { status?: number; headers?: Record<string, string>; body?: object };

async function serve(
  t: Test,
  answer: (asked: { method: string; params: unknown[] }) => Answer,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const sent = (await request.toArray()).join('');
    const { status = 200, headers = {}, body = {} } = answer(sent === '' ? undefined : JSON.parse(sent));
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  return (await listening(t, server)).url;
}

interface NodePlan {
  readonly chainId?: number;
  readonly ageS?: number;
  readonly blocksMax?: number;
  readonly code?: string;
}

function serveNode(t: Test, { chainId = 8453, ageS = 1, blocksMax = 10, code = '0x60' }: NodePlan = {}) {
  return serve(t, ({ method, params: [asked] }) => {
    if (method === 'eth_chainId') return { body: { result: hex(chainId) } };
    if (method === 'eth_getCode') return { body: { result: code } };
    if (method === 'eth_getBlockByNumber')
      return { body: { result: { number: hex(1000), timestamp: hex(nowS() - ageS) } } };
    const { fromBlock, toBlock } = asked as { fromBlock: string; toBlock: string };
    return Number(toBlock) - Number(fromBlock) < blocksMax
      ? { body: { result: [] } }
      : { body: { error: { message: 'limited to fewer blocks' } } };
  });
}

const facilitator = (t: Test, answer: Answer = { body: { kinds: [BASE_KIND] } }) => serve(t, () => answer);

async function found(settings: Readonly<Record<string, string>>) {
  const findings = await sales(
    readConfig(
      Object.fromEntries(
        Object.entries({ PAY_TO, ...settings }).map(([name, value]) => [`FARTHING_${name}`, value]),
      ),
    ),
  );
  for (const { state, remedy } of findings) t.equal(state === 'ok', remedy === undefined);
  return Object.groupBy(findings, ({ check }) => check);
}

t.test('a set-up that sells is all ok', async (t) => {
  const of = await found({ FACILITATOR: await facilitator(t), RPC_URL: await serveNode(t) });
  for (const check of ['pay to', 'facilitator', 'clock', 'chain'])
    t.match(of[check], [{ state: 'ok' }], check);
  t.match(of.facilitator, [{ found: /settles on eip155:8453 \(x402 v2\)/ }]);
  t.match(of.chain, [{ found: /block 1000, \d s old; its log in looks of 10 blocks/ }]);
});

t.test('a wallet that is mistyped, nobody’s, or the coin itself', async (t) => {
  const FACILITATOR = await facilitator(t);
  for (const [wallet, fault] of [
    [PAY_TO.replace('5aA', '5AA'), /upper and lower case do not fit/],
    [`0x${'0'.repeat(40)}`, /zero address/],
    [BASE_USDC.displayedAddress, /the contract of USDC itself/],
  ] as const)
    t.match((await found({ FACILITATOR, PAY_TO: wallet }))['pay to'], [{ state: 'problem', found: fault }]);
  for (const plain of [PAY_TO.toLowerCase(), PAY_TO.toUpperCase().replace('0X', '0x')])
    t.match((await found({ FACILITATOR, PAY_TO: plain }))['pay to'], [{ state: 'ok' }], 'without a checksum');
});

t.test(
  'a facilitator that is away, redirects, refuses the key, is another service, or settles elsewhere',
  async (t) => {
    const testnet = { kinds: [{ ...BASE_KIND, network: 'eip155:84532' }] };
    for (const [answer, fault, remedy] of [
      [
        { status: 308, headers: { location: 'https://www.a.example/supported' } },
        /redirects to https:\/\/www\.a\.example\/supported/,
        /Write the address/,
      ],
      [{ status: 401 }, /refuses the key: 401/, /FARTHING_CDP_KEY_SECRET_FILE/],
      [{ status: 404 }, /answers 404/, /Check the path/],
      [{ body: { hello: 1 } }, /answers 200 where it should say/, /Check the path/],
      [{ body: testnet }, /settles on eip155:84532, not on eip155:8453/, /set FARTHING_NETWORK/],
    ] as const) {
      const of = await found({ FACILITATOR: await facilitator(t, answer) });
      t.match(of.facilitator, [{ state: 'problem', found: fault, remedy }]);
    }
    const away = await found({ FACILITATOR: `http://127.0.0.1:9,${await facilitator(t)}` });
    t.match(away.facilitator, [{ state: 'problem', found: /ECONNREFUSED/ }, { state: 'ok' }]);
  },
);

t.test('a clock that is wrong', async (t) => {
  const headers = { Date: new Date(Date.now() - 3_600_000).toUTCString() };
  const of = await found({ FACILITATOR: await facilitator(t, { headers, body: { kinds: [BASE_KIND] } }) });
  t.match(of.clock, [{ state: 'problem', remedy: /synchronisation/ }]);
});

t.test('a node of another chain, behind, without the coin, without its log, away, or none', async (t) => {
  const FACILITATOR = await facilitator(t);
  for (const [plan, state, fault, check = 'chain'] of [
    [{ chainId: 84532 }, 'problem', /chain 84532, not of 8453/],
    [{ ageS: 600 }, 'problem', /is 60\d s old by this clock/, 'clock of the chain'],
    [{ code: '0x' }, 'problem', /has no USDC/],
    [{ blocksMax: 0 }, 'warning', /refuses to show its log .*limited to fewer blocks/],
    [{ blocksMax: 5 }, 'ok', /looks of 5 blocks/],
  ] as const) {
    const of = await found({ FACILITATOR, RPC_URL: await serveNode(t, plan) });
    t.match(of[check], [{ state, found: fault }]);
  }
  const away = await found({ FACILITATOR, RPC_URL: 'http://127.0.0.1:9/v2/secret-of-a-plan' });
  t.match(away.chain, [{ state: 'problem', found: /127\.0\.0\.1:9: .*ECONNREFUSED/ }]);
  t.notMatch(JSON.stringify(away), /secret-of-a-plan/);
  t.match((await found({ FACILITATOR })).chain, [{ state: 'warning', found: /believed/ }]);
});

t.test('the doctor signs its question as the server does', async (t) => {
  let tokens = 0;
  const server = createServer((request, response) => {
    if (request.headers.authorization?.startsWith('Bearer ey')) tokens++;
    response.end(JSON.stringify({ kinds: [BASE_KIND] }));
  });
  const { url } = await listening(t, server);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const of = await found({
    FACILITATOR: `cdp@${url}`,
    CDP_KEY_ID: 'id',
    CDP_KEY_SECRET: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  t.match(of.facilitator, [{ state: 'ok' }]);
  t.equal(tokens, 1);
});
