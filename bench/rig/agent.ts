import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { builtServer } from '../../scripts/built-server.ts';
import { Farthing, type FarthingOptions } from '../../src/client/index.ts';
import { BARE_ENVIRONMENT, environmentOf } from '../../test/rig/environment.ts';

/** A server of its own process on a free port with an empty data folder, for a bench. */
export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** One that was started here. */
export interface StartedServer extends BenchServer {
  /** Its data. */
  readonly folder: string;
  readonly child: ChildProcess;
}

interface StartOptions {
  /** Path of a module that is loaded into the program before it runs; its parent can talk to it. */
  readonly preload?: string;
  /** The program of another built tree. Absent: this one's. */
  readonly program?: string;
  /** Its data, which stays. Absent: a new folder that is removed with it. */
  readonly folder?: string;
}

/** @param settings by their names in the code */
export function startServer(
  settings: Record<string, string> = {},
  options: StartOptions = {},
): Promise<StartedServer> {
  const defaults = { PORT: '0', DEMO: '0', LOG_LEVEL: 'warn', ...cacheOfCaller() };
  const { program = builtServer() } = options;
  return startIn(program, (DATA_DIR) => environmentOf({ DATA_DIR, ...defaults, ...settings }), options);
}

/**
 * Starts a program that prints `{"event":"ready","url":…}` on a line; its `DATA_DIR` is new and removed with it.
 * @throws when it ends before that
 */
export function startScript(script: string, environment: Record<string, string>): Promise<BenchServer> {
  return startIn(script, (DATA_DIR) => ({ DATA_DIR, ...environment }));
}

async function startIn(
  script: string,
  environmentIn: (folder: string) => Record<string, string>,
  { preload, folder: kept }: StartOptions = {},
): Promise<StartedServer> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const imports = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, ['--no-warnings', ...imports, script], {
    env: { ...BARE_ENVIRONMENT, ...environmentIn(folder) },
    stdio: ['pipe', 'pipe', 'inherit', ...(preload === undefined ? [] : (['ipc'] as const))],
  });
  const url = await new Promise<string>((resolveUrl, reject) => {
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code} before it was ready`)));
    createInterface(child.stdout!).on('line', (line) => {
      if (line.includes('"event":"ready"')) resolveUrl((JSON.parse(line) as { url: string }).url);
      else process.stderr.write(`${line}\n`);
    });
  });
  const stop = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { url, pid: child.pid!, folder, child, stop };
}

/** The cache holds data that depends on the models alone and takes seconds to make. */
function cacheOfCaller(): Record<string, string> {
  const { CACHE_DIR } = process.env;
  return CACHE_DIR === undefined ? {} : { CACHE_DIR };
}

export interface BenchHit {
  readonly item: { readonly name: string };
  readonly locator?: { readonly page?: number };
  /** Where whole passages are asked for. */
  readonly text?: string;
  readonly also?: readonly { readonly snippet?: string }[];
  readonly confidence: number;
  readonly score: number;
}

/** A client with a fresh wallet, which the local facilitator gives play money. */
export function payingClient(baseUrl: string, options: Pick<FarthingOptions, 'attemptsMax'> = {}): Farthing {
  const account = privateKeyToAccount(generatePrivateKey());
  return new Farthing({ baseUrl, account, maxPriceUsd: '100', ...options });
}

/** A rented workspace and its two calls, without a client library between. */
export class BenchWorkspace {
  readonly url: string;
  readonly token: string;
  readonly headers: Record<string, string>;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
    this.headers = { Authorization: `Bearer ${token}` };
  }

  static async rent(serverUrl: string, minutes: number): Promise<BenchWorkspace> {
    return (await BenchWorkspace.rentWithToken(serverUrl, minutes)).workspace;
  }

  static async rentWithToken(
    serverUrl: string,
    minutes: number,
  ): Promise<{ workspace: BenchWorkspace; token: string }> {
    const { id, token } = await payingClient(serverUrl).workspaces.create({ ttlMinutes: minutes });
    return { workspace: new BenchWorkspace(`${serverUrl}/agent/v1/workspaces/${id}`, token), token };
  }

  /** Uploads a file and waits until it is searchable; refusals for overload are tried again. */
  async ingest(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (;;) {
      const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
      const response = await fetch(`${this.url}/ingest`, {
        method: 'POST',
        headers: { ...this.headers, Prefer: 'wait=60', 'Content-Disposition': disposition },
        body: bytes,
      });
      const body = (await response.json()) as { job?: { state: string; error?: object }; detail?: string };
      if (response.status === 503 || response.status === 429) {
        await new Promise((resume) =>
          setTimeout(resume, 1000 * Number(response.headers.get('Retry-After') ?? 1)),
        );
        continue;
      }
      const { state } = body.job ?? {};
      // Bytes that are there already are waited for again.
      if (response.ok && state !== 'searchable' && state !== 'failed') continue;
      if (!response.ok || state !== 'searchable') throw new Error(`${name}: ${JSON.stringify(body)}`);
      return;
    }
  }

  async search(
    request: object,
  ): Promise<{ hits: BenchHit[]; latency_ms: number; timing: Record<string, number> }> {
    const response = await fetch(`${this.url}/search`, {
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify(request),
    });
    if (!response.ok) throw new Error(`a search was answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as {
      hits: BenchHit[];
      latency_ms: number;
      timing: Record<string, number>;
    };
  }
}

/** Runs `work` over all inputs, at most `width` at once; reports progress on stderr. */
export async function inParallel<T>(
  title: string,
  inputs: readonly T[],
  width: number,
  work: (input: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let done = 0;
  const worker = async () => {
    while (next < inputs.length) {
      await work(inputs[next++]!);
      done += 1;
      if (done % 250 === 0 || done === inputs.length)
        process.stderr.write(`  ${title}: ${done} of ${inputs.length}\n`);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}
