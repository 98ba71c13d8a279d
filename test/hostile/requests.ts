import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The attacker's workspace, and what its files may try to reach. */
export interface Target {
  readonly url: string;
  readonly workspace: string;
  readonly token: string;
  /** Port on 127.0.0.1 where nobody may ever connect. */
  readonly trapPort: number;
  /** A file that nobody may ever read. */
  readonly canary: string;
}

/** `read`, or the code of the refusal; `closed` where the connection ended instead. */
export type Outcome = string;

const STALLED_MS = 60_000;

/** Sends a file and waits for its job's end. */
export async function upload(target: Target, name: string, bytes: Uint8Array): Promise<Outcome> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(bytes)], name));
  const headers = { Authorization: `Bearer ${target.token}` };
  const base = `${target.url}/agent/v1/workspaces/${target.workspace}`;
  const answer = await fetch(`${base}/ingest`, { method: 'POST', body: form, headers });
  const body = (await answer.json()) as { code?: string; job_id?: string };
  if (!body.job_id) return body.code ?? `status ${answer.status}`;
  for (;;) {
    const job = (await (await fetch(`${base}/jobs/${body.job_id}`, { headers })).json()) as {
      state: string;
      error?: { code: string };
    };
    if (job.state === 'searchable') return 'read';
    if (job.state === 'failed') return job.error?.code ?? 'failed';
    await pause(50);
  }
}

export async function search(target: Target, body: string): Promise<Outcome> {
  const answer = await fetch(`${target.url}/agent/v1/workspaces/${target.workspace}/search`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${target.token}` },
    body,
  });
  const { code } = (await answer.json()) as { code?: string };
  return code ?? 'read';
}

/** Sends a head and then pieces, by hand, until they end or the server has had enough. */
export function byHand(
  { url, workspace, token }: Target,
  headers: readonly string[],
  pieces: Iterable<string | Uint8Array>,
  { end = false }: { end?: boolean } = {},
): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    const settle = (): void => {
      socket.destroy();
      const code = /"code":"(\w+)"/.exec(answer)?.[1];
      resolve(code ?? /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'closed');
    };
    socket.setTimeout(STALLED_MS, settle);
    socket.on('data', (piece) => {
      answer += piece.toString('latin1');
      if (/\r\n\r\n[\s\S]*\}\s*$/.test(answer)) settle();
    });
    socket.on('error', settle);
    socket.on('close', settle);
    socket.on('connect', async () => {
      const head = [
        `POST /agent/v1/workspaces/${workspace}/ingest HTTP/1.1`,
        `Host: ${hostname}`,
        `Authorization: Bearer ${token}`,
        ...headers,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      for (const piece of pieces) {
        if (socket.destroyed || answer !== '') break;
        if (!socket.write(piece)) await new Promise((go) => socket.once('drain', go).once('close', go));
      }
      if (end && !socket.destroyed) socket.end();
    });
  });
}

/** One chunk of a chunked body. */
export function chunk(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')]);
}
