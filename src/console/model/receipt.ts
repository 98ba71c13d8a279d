import { ask } from './server.ts';

export type ReceiptCheck =
  | { readonly state: 'valid'; readonly kid: string }
  | { readonly state: 'invalid'; readonly why: string }
  | { readonly state: 'unchecked'; readonly why: string };

interface Jwks {
  readonly keys: readonly (JsonWebKey & { readonly kid?: string })[];
}

const TYPE = 'farthing-disposal+jwt';

/** Checks a receipt's signature (compact JWS, Ed25519) in this browser, against the server's published keys. */
export async function checkReceipt(receipt: string): Promise<ReceiptCheck> {
  const [head = '', payload = '', signature = ''] = receipt.split('.');
  const header = JSON.parse(new TextDecoder().decode(fromBase64Url(head))) as Record<string, unknown>;
  if (header.alg !== 'EdDSA' || header.typ !== TYPE)
    return { state: 'invalid', why: 'It is no disposal receipt.' };
  const { keys } = await ask<Jwks>({ path: '/.well-known/jwks.json' });
  const jwk = keys.find(({ kid }) => kid === header.kid);
  if (!jwk) return { state: 'invalid', why: `The server publishes no key ${String(header.kid)}.` };
  let key: CryptoKey;
  try {
    const { kty, crv, x } = jwk;
    key = await crypto.subtle.importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    return { state: 'unchecked', why: 'This browser cannot check Ed25519 here (it may want HTTPS).' };
  }
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  const isGood = await crypto.subtle.verify({ name: 'Ed25519' }, key, fromBase64Url(signature), signed);
  return isGood
    ? { state: 'valid', kid: String(header.kid) }
    : { state: 'invalid', why: 'The signature does not belong to this content.' };
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const plain = text.replace(/-/g, '+').replace(/_/g, '/');
  return Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0));
}
