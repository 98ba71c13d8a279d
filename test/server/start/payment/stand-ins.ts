import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { jwtVerify } from 'jose';
import { listening } from '../../../rig/ports.ts';
import type { Teardown } from '../../../rig/temporary-folder.ts';

const ID = 'organizations/1f0a/apiKeys/7c2e';
const PATH = '/platform/v2/x402';

/**
 * A stand-in of a facilitator with accounts, before one of the protocol's own packages: passes on the calls whose token is good, as the
 * documents of CDP and PayAI describe it, and answers others 401. @returns the settings that name it, and how many calls it passed on
 */
export async function standIn(t: Teardown, name: 'cdp' | 'payai', target: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const seen = { passed: 0, turnedAway: 0 };
  const check = async (token: string, call: string) => {
    const issuer = name === 'cdp' ? 'cdp' : 'payai-merchant';
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ['EdDSA'], issuer, subject: ID });
    const { uris } = payload as { uris?: readonly string[] };
    if (name === 'cdp' && (uris?.length !== 1 || uris[0] !== call)) throw new Error(`not for ${call}`);
  };
  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    const body = Buffer.concat(await request.toArray());
    try {
      await check((headers.authorization ?? '').replace('Bearer ', ''), `${method} ${headers.host}${url}`);
    } catch {
      seen.turnedAway += 1;
      return void response.writeHead(401).end('{}');
    }
    seen.passed += 1;
    const answer = await fetch(target + url.slice(PATH.length), {
      method: method!,
      headers: { 'content-type': 'application/json' },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  const { port } = await listening(t, server);
  const { d, x } = privateKey.export({ format: 'jwk' });
  const halves = Buffer.concat([Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')]);
  const secret =
    name === 'cdp'
      ? halves.toString('base64')
      : privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const setting = name === 'cdp' ? 'CDP_KEY' : 'PAYAI_KEY';
  const settings = {
    FACILITATOR: `${name}@http://127.0.0.1:${port}${PATH}`,
    [`${setting}_ID`]: ID,
    [`${setting}_SECRET`]: secret,
  };
  return { settings, seen };
}
