import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CompactSign,
  calculateJwkThumbprint,
  compactVerify,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { FarthingError } from '../../domain/error.ts';
import { writeDurably } from '../../state/durable-file.ts';

/** Only the current key still has its private part. */
interface StoredKey {
  readonly kid: string;
  readonly created: string;
  readonly publicKey: JWK;
  readonly privateKey?: JWK;
}

interface KeyFile {
  /** The current one last. */
  readonly keys: readonly StoredKey[];
}

const ALGORITHM = 'EdDSA';
const TYPE = 'farthing-disposal+jwt';
const KEY_FILE = 'receipt-keys.json';
const PRIVATE_MODE = 0o600;

/** Signs receipts (compact JWS, EdDSA over Ed25519) and publishes every public key it ever signed with. */
export interface ReceiptSigner {
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** All public keys, previous ones included, as `/.well-known/jwks.json` shows them. */
  jwks(): JSONWebKeySet;
  /** A new key signs from now on. The previous private key is destroyed, its public key stays. @returns the new `kid`. */
  rotate(): Promise<string>;
}

/** Opens the keys in `folder`, or creates the first. Only the file's owner can read it. */
export async function openReceiptSigner(folder: string): Promise<ReceiptSigner> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, KEY_FILE);
  let file = (await readKeyFile(path)) ?? (await writeKeyFile(path, { keys: [await newKey()] }));
  let current = await signingKey(file, path);
  let rotating: Promise<unknown> = Promise.resolve();
  return {
    async sign(claims) {
      const payload = new TextEncoder().encode(JSON.stringify(claims));
      const header = { alg: ALGORITHM, kid: current.kid, typ: TYPE };
      return new CompactSign(payload).setProtectedHeader(header).sign(current.key);
    },
    jwks: () => ({ keys: file.keys.map(({ publicKey }) => publicKey) }),
    rotate() {
      // Rotations queue: every key that has signed must stay in the file.
      const rotated = rotating.then(async () => {
        const previous = file.keys.map(({ privateKey: _destroyed, ...published }) => published);
        file = await writeKeyFile(path, { keys: [...previous, await newKey()] });
        current = await signingKey(file, path);
        return current.kid;
      });
      rotating = rotated.catch(() => undefined);
      return rotated;
    },
  };
}

/** The public keys in `folder`, to verify receipts without a server; undefined when there are none. */
export async function readPublishedKeys(folder: string): Promise<JSONWebKeySet | undefined> {
  const file = await readKeyFile(join(folder, KEY_FILE));
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

async function newKey(): Promise<StoredKey> {
  const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
  const bare = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(bare);
  const shared = { kid, alg: ALGORITHM, use: 'sig' };
  return {
    kid,
    created: new Date().toISOString(),
    publicKey: { ...bare, ...shared },
    privateKey: { ...(await exportJWK(pair.privateKey)), ...shared },
  };
}

async function signingKey({ keys }: KeyFile, path: string) {
  const last = keys.at(-1);
  if (!last?.privateKey)
    throw new FarthingError(
      'internal',
      `The newest key in ${path} cannot sign: its private part is missing.`,
    );
  return { kid: last.kid, key: await importJWK(last.privateKey, ALGORITHM) };
}

async function readKeyFile(path: string): Promise<KeyFile | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  await chmod(path, PRIVATE_MODE);
  const file = JSON.parse(text) as Partial<KeyFile>;
  if (!Array.isArray(file.keys)) throw new FarthingError('internal', `${path} is no key file`);
  return { keys: file.keys };
}

/** Durable, so that no receipt outlives its key. */
async function writeKeyFile(path: string, file: KeyFile): Promise<KeyFile> {
  await writeDurably(path, `${JSON.stringify(file, null, 2)}\n`, PRIVATE_MODE);
  return file;
}
