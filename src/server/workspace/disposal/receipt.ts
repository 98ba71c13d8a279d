import { sign as signBytes } from 'node:crypto';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import { CompactSign, compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { ALGORITHM, ReceiptKeys, type ReceiptKeysOptions, readKeysIn } from './receipt-keys.ts';

const TYPE = 'farthing-disposal+jwt';
const SIGNED_LATELY_MAX = 256;

/** Signs receipts (compact JWS, EdDSA over Ed25519) and publishes every public key it ever signed with. */
export interface ReceiptSigner {
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * Signs synchronously, with the newest key that this server knows.
   * @param issuer a DID; with the key's `kid` it is the `kid` of the JWS @returns a compact JWS
   */
  signAs(issuer: string, claims: Readonly<Record<string, unknown>>): string;
  /** All public keys, previous ones included, as `/.well-known/jwks.json` shows them. */
  jwks(): JSONWebKeySet;
  /** Takes over the keys that other servers of the cluster have made, unless it looked within the last second. */
  refresh(): Promise<void>;
  /** A new key signs from now on. The previous private key is destroyed, its public key stays. @returns the new `kid`. */
  rotate(): Promise<string>;
}

/** Opens the keys in `folder`, or creates the first. Only the file's owner can read it. */
export async function openReceiptSigner(
  folder: string,
  options: ReceiptKeysOptions = {},
): Promise<ReceiptSigner> {
  const keys = await ReceiptKeys.open(folder, options);
  /** Of `signAs`: a wallet's prepaid purchases of one second have the same receipt, and Ed25519 signs the same bytes alike. */
  const lately = new Map<string, string>();
  return {
    async sign(claims) {
      await keys.refresh();
      const { kid, key } = keys.current;
      const payload = new TextEncoder().encode(JSON.stringify(claims));
      const header = { alg: ALGORITHM, kid, typ: TYPE };
      return new CompactSign(payload).setProtectedHeader(header).sign(key);
    },
    signAs(issuer, claims) {
      void keys.refresh();
      const { kid, secret } = keys.current;
      const parts = [{ alg: ALGORITHM, kid: `${issuer}#${kid}` }, claims];
      const signed = parts.map((part) => base64url(JSON.stringify(part))).join('.');
      const jws =
        lately.get(signed) ??
        `${signed}.${signBytes(null, Buffer.from(signed), secret).toString('base64url')}`;
      forgetOldest(lately.set(signed, jws), SIGNED_LATELY_MAX);
      return jws;
    },
    jwks: () => ({ keys: keys.published }),
    refresh: () => keys.refresh(),
    rotate: () => keys.rotate(),
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The public keys in `folder`, to verify receipts without a server; undefined when there are none. */
export async function readPublishedKeys(folder: string): Promise<JSONWebKeySet | undefined> {
  const file = await readKeysIn(folder);
  return file && { keys: file.keys.map(({ publicKey }) => publicKey) };
}

export type ReceiptCheck =
  | { readonly valid: true; readonly kid: string; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly valid: false; readonly reason: string };

/** Verifies a receipt against published keys, offline. Ignores white space around it. */
export async function verifyReceipt(receipt: string, jwks: JSONWebKeySet): Promise<ReceiptCheck> {
  try {
    const keys = createLocalJWKSet(jwks);
    const { payload, protectedHeader } = await compactVerify(receipt.trim(), keys, {
      algorithms: [ALGORITHM],
    });
    if (protectedHeader.typ !== TYPE)
      return { valid: false, reason: `it is no disposal receipt (typ ${protectedHeader.typ})` };
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    if (typeof claims !== 'object' || claims === null)
      return { valid: false, reason: 'its content is no JSON object' };
    return { valid: true, kid: protectedHeader.kid ?? '', claims: { ...claims } };
  } catch (error) {
    return { valid: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
