import { randomBytes, webcrypto } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { type Objects, objectsUnavailable, probe, UnsuitableStoreError } from './objects.ts';

export interface S3Options {
  /** Absolute URL, without the bucket. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Prefix of all keys; empty, or with a slash at its end. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** No attempt begins later than this after the first. */
  readonly patienceMs?: number;
}

/** An answer that repeating will not change. */
class RefusedError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

interface Question {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Below the prefix; undefined: the bucket itself. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

const PATIENCE_MS = 15_000;
const ATTEMPT_MS = 5000;
/** Slowest transfer, in bytes a millisecond: 1 MB a second. */
const BYTES_PER_MS_MIN = 1000;
const RETRY_FIRST_MS = 50;
const RETRY_LAST_MS = 2000;
const UNANSWERED = new Set([408, 425, 429]);

/** Objects in a bucket of any S3 that signs with version 4 and takes the bucket in the path. */
export class S3Objects implements Objects {
  readonly #options: S3Options;
  readonly #keys = new Map<string, ArrayBuffer>();

  constructor(options: S3Options) {
    this.#options = options;
  }

  async put(name: string, body: Uint8Array): Promise<void> {
    await this.#insist({ method: 'PUT', name, body });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.#insist({ method: 'GET', name }).catch(unlessAbsent);
  }

  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = Buffer.from(
        await this.#insist({
          method: 'GET',
          query: {
            'list-type': '2',
            prefix: this.#options.prefix + prefix,
            ...(token !== undefined && { 'continuation-token': token }),
          },
        }),
      ).toString();
      for (const key of elements(page, 'Key')) names.push(key.slice(this.#options.prefix.length));
      const [isTruncated] = elements(page, 'IsTruncated');
      token = isTruncated === 'true' ? elements(page, 'NextContinuationToken')[0] : undefined;
    } while (token !== undefined);
    return names;
  }

  async remove(name: string): Promise<void> {
    await this.#insist({ method: 'DELETE', name }).catch(unlessAbsent);
  }

  async check(): Promise<void> {
    try {
      const versioning = await this.#setting('versioning', []);
      // A suspended bucket still keeps what it had before.
      if (/<Status>\s*(Enabled|Suspended)/.test(versioning))
        throw new UnsuitableStoreError(
          'the bucket has versioning, which keeps what is removed; take one that never had it',
        );
      // A lock needs versions, so that a store which does not tell of locks, or not to this key, has said enough.
      const lock = await this.#setting('object-lock', [
        'ObjectLockConfigurationNotFoundError',
        'AccessDenied',
      ]);
      if (/<ObjectLockEnabled>\s*Enabled/.test(lock))
        throw new UnsuitableStoreError(
          'the bucket has object lock, which keeps what is removed; take one without',
        );
      await probe(this, randomBytes(16).toString('hex'));
    } catch (error) {
      const refused = error instanceof RefusedError ? error : (error as Error).cause;
      if (refused instanceof RefusedError) throw new UnsuitableStoreError(adviceOn(refused));
      throw error;
    }
  }

  /** A setting of the bucket, as XML; empty where the store does not know the setting. */
  async #setting(name: string, absent: readonly string[]): Promise<string> {
    try {
      return Buffer.from(await this.#insist({ method: 'GET', query: { [name]: '' } })).toString();
    } catch (error) {
      if (error instanceof RefusedError && (error.status === 501 || absent.includes(error.code))) return '';
      throw error;
    }
  }

  /** Asks until there is an answer, or the time for it is over. @throws RefusedError, objects_unavailable */
  async #insist(question: Question): Promise<Uint8Array> {
    const { patienceMs = PATIENCE_MS } = this.#options;
    const began = performance.now();
    for (let delay = RETRY_FIRST_MS; ; delay = Math.min(2 * delay, RETRY_LAST_MS)) {
      try {
        return await this.#ask(question);
      } catch (error) {
        // A refused write may be allowed tomorrow: that is the store's state, not this object's.
        if (error instanceof RefusedError && (question.method === 'GET' || error.status === 404)) throw error;
        if (error instanceof RefusedError || performance.now() + delay - began > patienceMs)
          throw objectsUnavailable(error);
        await pause(delay * (0.5 + Math.random() / 2));
      }
    }
  }

  async #ask({ method, name, query = {}, body }: Question): Promise<Uint8Array> {
    const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = this.#options;
    const url = new URL(endpoint);
    const base = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
    url.pathname = base + bucket + (name === undefined ? '' : `/${prefix}${name}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        'X-Amz-Content-Sha256': await hashOf(body ?? new Uint8Array()),
      },
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      cache: this.#keys,
    });
    const { headers } = await signer.sign();
    const milliseconds = ATTEMPT_MS + Math.ceil((body?.length ?? 0) / BYTES_PER_MS_MIN);
    const response = await fetch(url, {
      method,
      headers,
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
      redirect: 'error',
      signal: AbortSignal.timeout(milliseconds),
    });
    const answer = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return answer;
    const [code = ''] = elements(Buffer.from(answer).toString(), 'Code');
    if (UNANSWERED.has(response.status) || (response.status >= 500 && response.status !== 501))
      throw new Error(`${response.status} ${code}`);
    throw new RefusedError(response.status, code);
  }
}

/** Runs on another thread: a part of an index takes milliseconds. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(hash).toString('hex');
}

function unlessAbsent(error: unknown): undefined {
  if (error instanceof RefusedError && error.status === 404 && error.code !== 'NoSuchBucket')
    return undefined;
  if (error instanceof RefusedError) throw objectsUnavailable(error);
  throw error;
}

function adviceOn({ status, code }: RefusedError): string {
  if (code === 'NoSuchBucket') return 'there is no such bucket; make it first';
  if (status === 403)
    return `the credentials are refused (${code}); they need to read the bucket's settings, and to list, read, write and remove its objects`;
  return `the store answered ${status} ${code}`;
}

/** Contents of the elements of this name, in order. */
function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, content]) =>
    content!.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!),
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
