import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';

/** Authentication headers of one call to a facilitator. `url` is the call's whole address. Names in lower case. */
export type AuthHeaders = (method: 'GET' | 'POST', url: string) => Promise<Readonly<Record<string, string>>>;

/** An API key as its facilitator gave it. */
export interface ApiKey {
  readonly id: string;
  readonly secret: string;
}

/** Seconds that a token is valid; both facilitators ask for no more. */
const TOKEN_SECONDS = 120;
/** Prefix of an Ed25519 key's 32 bytes in PKCS #8 (RFC 8410). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Basic authentication. @param user `user:password` */
export function basicAuth(user: string): AuthHeaders {
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return async () => ({ authorization });
}

/** A header of the facilitator's own. @param line `Name: value` @throws Error */
export function headerAuth(line: string): AuthHeaders {
  const [, name, value] = /^([\w-]+):\s*(\S.*)$/.exec(line.trim()) ?? [];
  if (name === undefined || value === undefined)
    throw new Error('must be a header as it is sent, such as "Authorization: Bearer TOKEN"');
  return async () => ({ [name.toLowerCase()]: value });
}

/**
 * Coinbase's (CDP): a JWT for each call, which names the call. Its keys are Ed25519 (64 bytes in base64: seed, public half) or P-256
 * (PEM). Claims: docs.cdp.coinbase.com/get-started/authentication/jwt-authentication, and the SDK's `auth/utils/jwt.ts`.
 * @throws Error for a secret that is neither
 */
export function cdpAuth({ id, secret }: ApiKey): AuthHeaders {
  const key = secret.includes('-----BEGIN') ? p256Key(secret) : ed25519Key(secret);
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA';
  return async (method, url) => {
    const { host, pathname } = new URL(url);
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT({ uris: [`${method} ${host}${pathname}`] })
      .setProtectedHeader({ alg, kid: id, typ: 'JWT', nonce: randomBytes(16).toString('hex') })
      .setSubject(id)
      .setIssuer('cdp')
      .setAudience(['cdp_service'])
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(key);
    return { authorization: `Bearer ${token}` };
  };
}

/**
 * PayAI's: a JWT for each call. The key is Ed25519 in PKCS #8, DER in base64, and may begin with `payai_sk_`. Claims:
 * docs.payai.network/x402/facilitators/authentication.
 * @throws Error for another secret
 */
export function payaiAuth({ id, secret }: ApiKey): AuthHeaders {
  const der = Buffer.from(secret.replace(/^payai_sk_/, ''), 'base64');
  const key = privateKey(der, 'ed25519', 'must be the Ed25519 key that PayAI shows: payai_sk_ and base64');
  return async () => {
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: 'JWT' })
      .setSubject(id)
      .setIssuer('payai-merchant')
      .setIssuedAt(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .setJti(randomUUID())
      .sign(key);
    return { authorization: `Bearer ${token}` };
  };
}

function ed25519Key(secret: string): KeyObject {
  const fault = 'must be the key that CDP shows: 64 bytes in base64 (Ed25519), or a PEM (ECDSA)';
  const bytes = Buffer.from(secret, 'base64');
  if (bytes.byteLength !== 64) throw new Error(fault);
  const key = privateKey(Buffer.concat([ED25519_PKCS8, bytes.subarray(0, 32)]), 'ed25519', fault);
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (x !== bytes.subarray(32).toString('base64url')) throw new Error(`${fault}; its halves differ`);
  return key;
}

/** A variable of the environment often has `\n` for line breaks. */
function p256Key(secret: string): KeyObject {
  const fault = 'must be a P-256 key in PEM';
  const key = privateKey(secret.replaceAll('\\n', '\n'), 'ec', fault);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error(fault);
  return key;
}

/** Node's own message may show a part of the key. */
function privateKey(key: string | Buffer, type: 'ec' | 'ed25519', fault: string): KeyObject {
  let parsed: KeyObject | undefined;
  try {
    parsed = createPrivateKey(typeof key === 'string' ? key : { key, format: 'der', type: 'pkcs8' });
  } catch {
    parsed = undefined;
  }
  if (parsed?.asymmetricKeyType !== type) throw new Error(fault);
  return parsed;
}
