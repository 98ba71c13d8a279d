import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import t, { type Test } from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { FacilitatorClient } from '../../../src/payment/facilitator/facilitator-client.ts';
import { readConfig } from '../../../src/server/settings/config.ts';
import { facilitatorAddresses } from '../../../src/server/wiring/facilitator-addresses.ts';
import { listening } from '../../rig/ports.ts';
import { SetClock } from '../rig/gate-rig.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO, paid, paymentOf } from '../rig/payments.ts';

/** Servers that verify the tokens of their callers, as the documents of CDP and PayAI describe them. */

const ID = 'organizations/1f0a/apiKeys/7c2e';
const TERMS = { amount: 6000n, resource: 'https://a.example/search', description: '' };

interface Caller {
  readonly call: string;
  readonly token: string;
}

/** Answers 401 unless the token is good. */
async function serve(t: Test, isGood: (caller: Caller, host: string) => Promise<void>) {
  const calls: Caller[] = [];
  const faults: unknown[] = [];
  const server = createServer(async (request, response) => {
    await request.toArray();
    const call = `${request.method} ${request.headers.host}${request.url}`;
    const caller = { call, token: (request.headers.authorization ?? '').replace(/^Bearer /, '') };
    calls.push(caller);
    try {
      await isGood(caller, request.headers.host!);
    } catch (error) {
      faults.push(error);
      return void response.writeHead(401).end('{}');
    }
    const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
    response.end(JSON.stringify({ kinds, isValid: true, success: false, errorReason: 'insufficient_funds' }));
  });
  const { url } = await listening(t, server);
  return { url: `${url}/platform/v2/x402`, calls, faults };
}

async function clientOf(facilitator: string, settings: Readonly<Record<string, string>>) {
  const config = readConfig({
    FARTHING_FACILITATOR: facilitator,
    FARTHING_PAY_TO: PAY_TO,
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`FARTHING_${name}`, value])),
  });
  const [address] = await facilitatorAddresses(config);
  return new FacilitatorClient({
    address: address!,
    assets: [BASE_USDC],
    payTo: PAY_TO,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock: new SetClock(),
    log: () => undefined,
  });
}

/** Makes each kind of call, one of them twice. @returns what was said */
async function callAll(client: FacilitatorClient): Promise<unknown[]> {
  const payment = paymentOf(await paid());
  const read = await client.read();
  const { told } = await client.verify(payment, TERMS, 60_000);
  const settle = async () => (await client.settle(payment, TERMS, 60_000)).told.kind;
  return [read, typeof told === 'string' ? told : told.valid, await settle(), await settle()];
}

const TAKEN = [undefined, true, 'refused', 'refused'];
const TURNED_AWAY = [
  '/supported answered 401: it refuses the key',
  '/verify answered 401: it refuses the key',
  'turned_away',
  'turned_away',
];

const ed25519 = generateKeyPairSync('ed25519');
const jwk = ed25519.privateKey.export({ format: 'jwk' });
const CDP_ED25519 = Buffer.concat([
  Buffer.from(jwk.d!, 'base64url'),
  Buffer.from(jwk.x!, 'base64url'),
]).toString('base64');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const CDP_P256 = p256.privateKey.export({ format: 'pem', type: 'sec1' }).toString();

/** As the SDK of CDP makes them, and its documents say. */
const cdpRule =
  (key: KeyObject, alg: string) =>
  async ({ call, token }: Caller) => {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: [alg],
      issuer: 'cdp',
      subject: ID,
      audience: 'cdp_service',
      typ: 'JWT',
      requiredClaims: ['uris', 'nbf', 'exp', 'iat'],
    });
    t.same(payload.uris, [call], 'for this call alone');
    t.equal(payload.exp! - payload.nbf!, 120);
    t.equal(protectedHeader.kid, ID);
    t.match(protectedHeader.nonce, /^[0-9a-f]{32}$/);
  };

for (const [kind, key, alg, secret] of [
  ['Ed25519', ed25519.publicKey, 'EdDSA', CDP_ED25519],
  ['P-256', p256.publicKey, 'ES256', CDP_P256],
  ['P-256, on one line', p256.publicKey, 'ES256', CDP_P256.replaceAll('\n', '\\n')],
] as const) {
  t.test(`CDP: each call has a token of its own, signed with the key (${kind})`, async (t) => {
    const server = await serve(t, cdpRule(key, alg));
    const client = await clientOf(`cdp@${server.url}`, { CDP_KEY_ID: ID, CDP_KEY_SECRET: secret });
    t.same(await callAll(client), TAKEN);
    t.same(server.faults, []);
    t.same(
      server.calls.map(({ call }) => call.replace(/127\.0\.0\.1:\d+/, 'host')),
      [
        'GET host/platform/v2/x402/supported',
        'POST host/platform/v2/x402/verify',
        'POST host/platform/v2/x402/settle',
        'POST host/platform/v2/x402/settle',
      ],
    );
    t.equal(new Set(server.calls.map(({ token }) => token)).size, 4, 'none is sent twice');
  });
}

t.test('CDP: the file that it has for download is enough', async (t) => {
  const folder = t.testdir({});
  for (const [name, content] of Object.entries({
    'new.json': { id: ID, privateKey: CDP_ED25519 },
    'old.json': { name: ID, privateKey: CDP_P256 },
  })) {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    const [key, alg] =
      name === 'new.json' ? ([ed25519.publicKey, 'EdDSA'] as const) : ([p256.publicKey, 'ES256'] as const);
    const server = await serve(t, cdpRule(key, alg));
    const client = await clientOf(`cdp@${server.url}`, { CDP_KEY_SECRET_FILE: file });
    t.same(await callAll(client), TAKEN, name);
  }
});

t.test('PayAI: a token for each call, and none without a key', async (t) => {
  const pkcs8 = ed25519.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const seen = new Set<unknown>();
  const server = await serve(t, async ({ token }) => {
    const { payload, protectedHeader } = await jwtVerify(token, ed25519.publicKey, {
      algorithms: ['EdDSA'],
      issuer: 'payai-merchant',
      subject: ID,
      requiredClaims: ['iat', 'exp', 'jti'],
    });
    t.equal(payload.exp! - payload.iat!, 120);
    t.equal(protectedHeader.kid, ID);
    t.notOk(seen.has(payload.jti), 'fresh');
    seen.add(payload.jti);
  });
  for (const secret of [`payai_sk_${pkcs8}`, pkcs8]) {
    const client = await clientOf(`payai@${server.url}`, { PAYAI_KEY_ID: ID, PAYAI_KEY_SECRET: secret });
    t.same(await callAll(client), TAKEN);
  }
  const free = await clientOf(`payai@${server.url}`, {});
  t.same(await callAll(free), TURNED_AWAY);
  t.same(new Set(server.calls.slice(-4).map(({ token }) => token)), new Set(['']));
});

t.test('a header of one’s own goes to the first address alone, and a user to its own', async (t) => {
  const config = readConfig({
    FARTHING_FACILITATOR: 'payai,https://a:b%40@one.example/x,https://two.example/,https://three.example',
    FARTHING_FACILITATOR_HEADER: 'x-secret-key: abc',
    FARTHING_PAY_TO: PAY_TO,
  });
  const addresses = await facilitatorAddresses(config);
  const told = await Promise.all(
    addresses.map(async ({ url, authHeaders }) => [url, await authHeaders?.('POST', `${url}/verify`)]),
  );
  t.same(told, [
    ['https://facilitator.payai.network', undefined],
    ['https://one.example/x', { authorization: `Basic ${Buffer.from('a:b@').toString('base64')}` }],
    ['https://two.example', { 'x-secret-key': 'abc' }],
    ['https://three.example', undefined],
  ]);
});
