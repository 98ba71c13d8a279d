import { createHash, randomBytes, webcrypto } from 'node:crypto';

/** A key of AES-256-GCM. */
export type SealKey = webcrypto.CryptoKey;

/** Sealed bytes are not what was sealed under this key and this name: damaged, exchanged, or of another key. */
export class SealBrokenError extends Error {}

export const KEY_BYTES = 32;

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const { subtle } = webcrypto;

export async function importKey(bytes: Uint8Array): Promise<SealKey> {
  return subtle.importKey('raw', bytes as Uint8Array<ArrayBuffer>, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/**
 * Encrypts and authenticates, on another thread. @param name what the bytes are: they open under the same name alone
 * @returns a format byte, a random nonce of 12 bytes, the ciphertext, and a tag of 16
 */
export async function seal(key: SealKey, name: string, plain: Uint8Array): Promise<Uint8Array> {
  const nonce = randomBytes(NONCE_BYTES);
  const sealed = await subtle.encrypt(algorithm(name, nonce), key, plain as Uint8Array<ArrayBuffer>);
  return Buffer.concat([Uint8Array.of(FORMAT), nonce, new Uint8Array(sealed)]);
}

/** @throws SealBrokenError with the name */
export async function unseal(key: SealKey, name: string, sealed: Uint8Array): Promise<Uint8Array> {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT)
    throw new SealBrokenError(`${name} is not sealed as it should be`);
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const content = sealed.subarray(1 + NONCE_BYTES) as Uint8Array<ArrayBuffer>;
  try {
    return new Uint8Array(await subtle.decrypt(algorithm(name, nonce), key, content));
  } catch {
    throw new SealBrokenError(`${name} is damaged, or was sealed under another key`);
  }
}

function algorithm(name: string, nonce: Uint8Array) {
  return {
    name: 'AES-GCM',
    iv: nonce as Uint8Array<ArrayBuffer>,
    additionalData: Buffer.from(name) as Uint8Array<ArrayBuffer>,
    tagLength: 8 * TAG_BYTES,
  };
}

/** A cluster key: it seals the Tenants' keys. */
export interface ClusterKey {
  /** Part of its SHA-256: tells which key sealed something, and nothing of the key. */
  readonly id: string;
  readonly key: SealKey;
}

const ID_DIGITS = 16;

/** @param text keys of 64 hexadecimal digits, one a line, the one in use first @throws Error that shows none of it */
export async function readClusterKeys(text: string): Promise<[ClusterKey, ...ClusterKey[]]> {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => !/^[0-9a-f]{64}$/i.test(line)))
    throw new Error('must hold keys of 64 hexadecimal digits, one a line: `openssl rand -hex 32` makes one');
  const keys = lines.map(async (line): Promise<ClusterKey> => {
    const bytes = Buffer.from(line, 'hex');
    const id = createHash('sha256').update('farthing cluster key').update(bytes).digest('hex');
    return { id: id.slice(0, ID_DIGITS), key: await importKey(bytes) };
  });
  return (await Promise.all(keys)) as [ClusterKey, ...ClusterKey[]];
}
