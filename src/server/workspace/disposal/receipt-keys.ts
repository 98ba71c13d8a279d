import { createPrivateKey, type KeyObject } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { writeDurably } from '../../state/durable-file.ts';

export const ALGORITHM = 'EdDSA';
const KEY_FILE = 'receipt-keys.json';
const PRIVATE_MODE = 0o600;
/** A key that another server has made is known after this long. */
const LOOK_MS = 1000;

/** A key whose private part is destroyed signs no more; its public part stays. */
interface StoredKey {
  readonly kid: string;
  /** RFC 3339. */
  readonly created: string;
  readonly publicKey: JWK;
  readonly privateKey?: JWK;
}

interface KeyFile {
  /** In the order of their making. */
  readonly keys: readonly StoredKey[];
}

interface SigningKey {
  readonly kid: string;
  readonly key: Awaited<ReturnType<typeof importJWK>>;
  /** The same, for what is signed at once. */
  readonly secret: KeyObject;
}

const NO_KEYS: KeyFile = { keys: [] };

/** A cluster's shared copy of the key file. Its methods throw while it is unreachable. */
export interface SharedKeys {
  read(): Promise<{ readonly text: string; readonly revision: number } | undefined>;
  /** No change of another server is lost. @param change may be called several times @param reseals also where the text stays as it is */
  change(
    change: (text: string | undefined) => string,
    reseals?: boolean,
  ): Promise<{ readonly text: string; readonly revision: number }>;
}

export interface ReceiptKeysOptions {
  /** Absent: these keys are of one server alone. */
  readonly shared?: SharedKeys | undefined;
  readonly log?: ((event: object) => void) | undefined;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/**
 * The keys that sign receipts: in a file and, in a cluster, in a record shared by its servers. A key is shared before it
 * signs. A private part that one server has destroyed is destroyed on all.
 */
export class ReceiptKeys {
  readonly #path: string;
  readonly #options: ReceiptKeysOptions;
  #file: KeyFile;
  #current: SigningKey;
  /** Revision of the shared file. */
  #revision = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #failure: string | undefined;
  #changing: Promise<unknown> = Promise.resolve();

  /** Opens the keys in `folder`, or makes the first. Only the file's owner can read it. @throws what `shared` throws */
  static async open(folder: string, options: ReceiptKeysOptions = {}): Promise<ReceiptKeys> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, KEY_FILE);
    const here = await readKeyFile(path);
    const first = here ?? { keys: [await newKey()] };
    if (!options.shared) {
      if (!here) await writeKeyFile(path, first);
      return new ReceiptKeys(path, options, first, await signingKey(first, path));
    }
    // A new server of a cluster signs with the key that is there.
    const { text, revision } = await options.shared.change((text) =>
      text === undefined ? textOf(first) : textOf(merged(fileOf(text), here ?? NO_KEYS)),
    );
    const file = await writeKeyFile(path, fileOf(text));
    const keys = new ReceiptKeys(path, options, file, await signingKey(file, path));
    keys.#looked(revision);
    return keys;
  }

  private constructor(path: string, options: ReceiptKeysOptions, file: KeyFile, current: SigningKey) {
    this.#path = path;
    this.#options = options;
    this.#file = file;
    this.#current = current;
  }

  /** The key that signs. */
  get current(): SigningKey {
    return this.#current;
  }

  /** The public part of each key that ever signed, the newest last. */
  get published(): JWK[] {
    return this.#file.keys.map(({ publicKey }) => publicKey);
  }

  /** Applies other servers' changes, unless it looked within the last second. A failure is retried later. */
  refresh(): Promise<void> {
    const { shared } = this.#options;
    if (!shared || this.#now() - this.#lookedAt < LOOK_MS) return Promise.resolve();
    this.#looking ??= this.#look(shared).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A new key signs from now on. The previous private keys are destroyed. @returns the new `kid` @throws what `shared` throws */
  async rotate(): Promise<string> {
    const added = await newKey();
    await this.#change((file) => ({
      keys: [...file.keys.filter(({ kid }) => kid !== added.kid).map(published), added],
    }));
    return added.kid;
  }

  async #look(shared: SharedKeys): Promise<void> {
    try {
      const found = await shared.read();
      if (found?.revision !== this.#revision) await this.#change((file) => file, false);
      else this.#looked(this.#revision);
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure !== String(error))
        this.#options.log?.({ event: 'receipt_keys_not_read', error: String(error) });
      this.#failure = String(error);
      this.#lookedAt = this.#now();
    }
  }

  /** Changes queue: every key that has signed must stay in the file. @param change called again when another server was faster */
  #change(change: (file: KeyFile) => KeyFile, reseals = true): Promise<void> {
    const changed = this.#changing.then(async () => {
      const { shared } = this.#options;
      const { text, revision } = shared
        ? await shared.change((text) => textOf(change(merged(fileOf(text), this.#file))), reseals)
        : { text: textOf(change(this.#file)), revision: 0 };
      this.#file = await writeKeyFile(this.#path, fileOf(text));
      this.#current = await signingKey(this.#file, this.#path);
      this.#looked(revision);
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  #looked(revision: number): void {
    this.#revision = revision;
    this.#lookedAt = this.#now();
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }
}

/** The file in `folder`; undefined where there is none. */
export function readKeysIn(folder: string): Promise<KeyFile | undefined> {
  return readKeyFile(join(folder, KEY_FILE));
}

/** Writes keys that servers share into `folder`, which may be new. @param text as `SharedKeys` has it */
export async function keepKeysIn(folder: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeKeyFile(join(folder, KEY_FILE), fileOf(text));
}

/** The keys of both in the order of their making. A private part that either lacks is destroyed. */
function merged(a: KeyFile, b: KeyFile): KeyFile {
  const other = new Map(b.keys.map((key) => [key.kid, key]));
  const both = a.keys.map((key) => {
    const same = other.get(key.kid);
    other.delete(key.kid);
    return same && !same.privateKey ? same : key;
  });
  const keys = [...both, ...other.values()];
  return { keys: keys.sort((key, next) => compare(key.created, next.created) || compare(key.kid, next.kid)) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function published({ privateKey: _destroyed, ...rest }: StoredKey): StoredKey {
  return rest;
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

/** The newest one that can sign: a clock that was ahead may have dated a former one later. */
async function signingKey({ keys }: KeyFile, path: string): Promise<SigningKey> {
  const last = keys.findLast(({ privateKey }) => privateKey);
  if (!last?.privateKey)
    throw new FarthingError('internal', `No key in ${path} can sign: their private parts are missing.`);
  return {
    kid: last.kid,
    key: await importJWK(last.privateKey, ALGORITHM),
    secret: createPrivateKey({ key: { ...last.privateKey }, format: 'jwk' }),
  };
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
  await writeDurably(path, textOf(file), PRIVATE_MODE);
  return file;
}

function textOf(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

function fileOf(text: string | undefined): KeyFile {
  return text === undefined ? NO_KEYS : (JSON.parse(text) as KeyFile);
}
