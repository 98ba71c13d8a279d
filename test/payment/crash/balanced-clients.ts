import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** What one client did. */
export interface ClientReport {
  readonly name: string;
  /** Calls that were answered in the end, and of these those that were charged. */
  calls: number;
  charged: number;
  /** Attempts that were not answered, or refused with 5xx. */
  repeated: number;
  slowestMs: number;
}

export interface Running {
  readonly url: string;
  isOver(): boolean;
}

const PAUSE_MS = 200;

/** A new wallet with the published client. */
function newAgent(): { readonly address: string; readonly fetch: typeof fetch } {
  const account = privateKeyToAccount(generatePrivateKey());
  const schemes = [{ network: 'eip155:*' as const, client: new ExactEvmScheme(account) }];
  return { address: account.address, fetch: wrapFetchWithPaymentFromConfig(fetch, { schemes }) };
}

/** What no client repeats. */
class RefusedError extends Error {}

/** Repeats a call until it is answered. @param attempt resolves with undefined to be repeated */
async function insist<T>(report: ClientReport, attempt: () => Promise<T | undefined>): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await attempt().catch((error: unknown) => {
      if (error instanceof RefusedError) throw error;
      return undefined;
    });
    if (answer !== undefined) {
      report.calls += 1;
      report.slowestMs = Math.max(report.slowestMs, Math.round(performance.now() - began));
      return answer;
    }
    report.repeated += 1;
    await pause(PAUSE_MS);
  }
}

function newReport(name: string): ClientReport {
  return { name, calls: 0, charged: 0, repeated: 0, slowestMs: 0 };
}

/** A workspace with a file, `tides.txt`. */
export async function rentWithFile(url: string): Promise<{ readonly id: string; readonly token: string }> {
  const report = newReport('setup');
  const agent = newAgent();
  const json = async (response: Response) =>
    response.ok ? ((await response.json()) as Record<string, string>) : undefined;
  const { id, capability_token: token } = await insist(report, async () =>
    json(
      await agent.fetch(`${url}/agent/v1/workspaces`, {
        method: 'POST',
        body: JSON.stringify({ ttl_minutes: 60 }),
        headers: { 'Idempotency-Key': `rent-${agent.address}` },
      }),
    ),
  );
  await insist(report, async () =>
    json(
      await fetch(`${url}/agent/v1/workspaces/${id}/ingest`, {
        method: 'POST',
        body: 'Tides follow the moon.',
        headers: {
          Authorization: `Bearer ${token}`,
          Prefer: 'wait=60',
          'Content-Disposition': 'attachment; filename="tides.txt"',
        },
      }),
    ),
  );
  return { id: id!, token: token! };
}

/** Searches, uploads and rents with the published `@x402/fetch`, each call with a key of its own that stays the same when it is repeated. */
export async function payWithFetch({ url, isOver }: Running): Promise<ClientReport> {
  const agent = newAgent();
  const report = newReport('@x402/fetch');
  for (let number = 0; !isOver(); number++) {
    const key = `balanced-${agent.address}-${number}`;
    const [path, body] = (
      [
        ['/agent/v1/ingest', `The keeper of lighthouse ${number} counts gulls.`],
        ['/agent/v1/search', JSON.stringify({ query: `lighthouse ${number - 1}` })],
        ['/agent/v1/workspaces', JSON.stringify({ ttl_minutes: 10 })],
      ] as const
    )[number % 3]!;
    const answer = await insist(report, async () => {
      const response = await agent.fetch(url + path, {
        method: 'POST',
        body,
        headers: { 'Idempotency-Key': key },
      });
      const read = (await response.json()) as { charged?: boolean };
      if (response.status >= 500) return undefined;
      if (!response.ok) throw new RefusedError(`${path}: ${response.status} ${JSON.stringify(read)}`);
      return read;
    });
    if (answer.charged) report.charged += 1;
  }
  return report;
}

/** Searches a workspace over MCP with the published SDK; a lost connection is opened again. */
export async function searchWithMcp(
  running: Running,
  workspace: { readonly id: string; readonly token: string },
): Promise<ClientReport> {
  const report = newReport('MCP');
  let client: Client | undefined;
  const connected = async () => {
    if (client) return client;
    const opened = new Client({ name: 'balanced', version: '1' });
    const url = new URL(`${running.url}/mcp?workspace=${workspace.id}`);
    const headers = { Authorization: `Bearer ${workspace.token}` };
    await opened.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    client = opened;
    return opened;
  };
  while (!running.isOver()) {
    await insist(report, async () => {
      try {
        const answer = await (await connected()).callTool({ name: 'search', arguments: { query: 'tides' } });
        const text = JSON.stringify(answer.content);
        return !answer.isError && text.includes('tides.txt') ? answer : undefined;
      } catch (error) {
        await client?.close().catch(() => undefined);
        client = undefined;
        throw error;
      }
    });
    await pause(PAUSE_MS / 4);
  }
  await client?.close();
  return report;
}

const PYTHON = `
import json, sys, time
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
url, seconds = sys.argv[1], float(sys.argv[2])
account = Account.create()
until = time.monotonic() + seconds
number = 0
while time.monotonic() < until:
    key = f'balanced-{account.address}-{number:08}'
    began, repeated = time.monotonic(), 0
    while True:
        client = x402ClientSync()
        register_exact_evm_client(client, EthAccountSigner(account))
        try:
            with x402_requests(client) as session:
                answer = session.post(url + '/agent/v1/ingest', data=f'Gull {number} of {account.address}.'.encode(), headers={'Idempotency-Key': key}, timeout=90)
            if answer.status_code < 300:
                break
            if answer.status_code not in (500, 502, 503):
                print(json.dumps({'error': f'{answer.status_code} {answer.text[:300]}'}), flush=True)
                sys.exit(1)
        except Exception:
            pass
        repeated += 1
        time.sleep(.2)
    print(json.dumps({'charged': answer.json()['charged'], 'repeated': repeated, 'ms': round(1000 * (time.monotonic() - began))}), flush=True)
    number += 1
`;

/** Uploads with the published Python client. @param python of an environment with `x402[requests,evm]` */
export async function payWithPython(
  { url }: Running,
  { python, folder, seconds }: { python: string; folder: string; seconds: number },
): Promise<ClientReport> {
  const report = newReport('x402 for Python');
  const program = join(folder, 'client.py');
  writeFileSync(program, PYTHON);
  const child: ChildProcess = spawn(python, [program, url, String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface(child.stdout!).on('line', (line) => {
    const call = JSON.parse(line) as { error?: string; charged: boolean; repeated: number; ms: number };
    if (call.error) throw new Error(call.error);
    report.calls += 1;
    report.charged += Number(call.charged);
    report.repeated += call.repeated;
    report.slowestMs = Math.max(report.slowestMs, call.ms);
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`the Python client ended with ${code}`);
  return report;
}
