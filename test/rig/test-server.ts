import { resolve } from 'node:path';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig, type x402ClientConfig } from '@x402/fetch';
import type { Test } from 'tap';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { start } from '../../src/bin/start.ts';
import { readConfig } from '../../src/server/settings/config.ts';
import type { Running, StartChanges } from '../../src/server/start/start.ts';
import { type DescribedAnswers, watchAnswers } from './described-answers.ts';
import { environmentOf, TESTED } from './environment.ts';
import { eventually } from './eventually.ts';
import './teardown-order.ts';

/** Shared by all tests: what is in it depends on the models alone, and takes seconds to make. */
export const CACHE_DIR = resolve(import.meta.dirname, '../../node_modules/.cache/farthing-test');

/** The same on every machine: by themselves they are as many as the processors, and each opens the models. */
export const FEW_WORKERS = { QUERY_WORKERS: '1', INGEST_WORKERS: '1' };

export interface TestServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly running: Running;
  readonly dataFolder: string;
  /** What its /openapi.json allows; `fetch` compares every answer with it by itself. */
  readonly described: DescribedAnswers;
  /** Stops it before the test ends, to look at what it left. */
  stop(): Promise<void>;
}

/** The whole server in this process, on a free port, with a data folder of the test's own; closed when the test ends. */
export async function startTestServer(
  t: Pick<Test, 'testdir' | 'teardown'>,
  environment: Record<string, string> = {},
  changes: StartChanges = {},
): Promise<TestServer> {
  // Asked for only where it is needed: it empties the folder.
  const dataFolder = environment.DATA_DIR ?? `${t.testdir({})}/data`;
  const variables = environmentOf({
    PORT: '0',
    DEMO: '0',
    DATA_DIR: dataFolder,
    CACHE_DIR,
    LOG_LEVEL: 'silent',
    // How long a query may wait on a busy machine is no matter of a test.
    QUERY_WAIT_MS_MAX: '0',
    ...FEW_WORKERS,
    ...TESTED,
    ...environment,
  });
  const settings = readConfig(variables);
  // A request learns at once that the outcome of its settlement is unknown.
  const running = await start(settings, { settlementWaitSecondsMax: 0, ...changes });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= running.stop();
    return stopped;
  };
  t.teardown(stop);
  const described = await watchAnswers(running.url);
  return { url: running.url, host: settings.HOST, port: running.port, running, dataFolder, described, stop };
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

async function read(response: Response): Promise<TestAnswer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** A wallet with the unmodified v2 client. */
export class TestAgent {
  readonly account: PrivateKeyAccount;
  readonly fetch: typeof fetch;
  readonly #url: string;

  /** @param spendControls of the client; its own allow well-known coins alone */
  constructor(
    url: string,
    account = privateKeyToAccount(generatePrivateKey()),
    spendControls?: x402ClientConfig['spendControls'],
  ) {
    this.account = account;
    this.#url = url;
    this.fetch = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(this.account) }],
      ...(spendControls !== undefined && { spendControls }),
    });
  }

  async post(path: string, json: object, headers: Record<string, string> = {}): Promise<TestAnswer> {
    const init = {
      method: 'POST',
      body: JSON.stringify(json),
      headers: { 'Content-Type': 'application/json', ...headers },
    };
    return read(await this.fetch(this.#url + path, init));
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<TestAnswer> {
    return read(await this.fetch(this.#url + path, { headers }));
  }

  async ingest(
    name: string,
    content: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<TestAnswer> {
    return read(
      await this.fetch(`${this.#url}/agent/v1/ingest`, {
        method: 'POST',
        body: fileForm(name, content),
        headers: { Prefer: 'wait=60', ...headers },
      }),
    );
  }

  async rent(json: object = {}): Promise<TestWorkspace> {
    const { status, body } = await this.post('/agent/v1/workspaces', json);
    if (status !== 201) throw new Error(`no workspace: ${status} ${JSON.stringify(body)}`);
    return new TestWorkspace(this.#url, body.id, body.capability_token);
  }
}

function fileForm(name: string, content: string | Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.set('file', new File([content], name));
  return form;
}

/** A rented workspace and its token. */
export class TestWorkspace {
  readonly id: string;
  readonly token: string;
  readonly #base: string;

  constructor(url: string, id: string, token: string) {
    this.id = id;
    this.token = token;
    this.#base = `${url}/agent/v1/workspaces/${id}`;
  }

  async send(
    method: string,
    path: string,
    body?: string | FormData,
    headers: Record<string, string> = {},
  ): Promise<TestAnswer> {
    return read(
      await fetch(this.#base + path, {
        method,
        body,
        headers: { Authorization: `Bearer ${this.token}`, ...headers },
      }),
    );
  }

  search(json: object): Promise<TestAnswer> {
    return this.send('POST', '/search', JSON.stringify(json));
  }

  /** As `search`, once the models of its index are open. */
  async searchOpened(search: object): Promise<TestAnswer> {
    let answer = await this.search(search);
    await eventually(async () => {
      const isOpening = ({ reason }: { reason: string }) => reason === 'model_opening';
      if (answer.status !== 503 && !answer.body.not_searched?.some(isOpening)) return true;
      answer = await this.search(search);
      return false;
    });
    return answer;
  }

  ingest(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<TestAnswer> {
    return this.send('POST', '/ingest', fileForm(name, content), { Prefer: 'wait=60' });
  }
}
