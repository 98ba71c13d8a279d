import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { listening } from '../../../rig/ports.ts';

/** Faults of a served file, one for each request; after the last one it is served correctly. */
export type Fault =
  /** Closes the connection after a number of bytes, once `when` is true: the client has had time to store them. */
  | { readonly breakAfter: number; readonly when?: () => boolean }
  | { readonly status: number }
  | { readonly wrongBytes: true }
  | { readonly ranges: 'ignored' };

export interface HubFile {
  readonly content: Buffer;
  /** Large files are redirected, with the hash on the first answer; small ones have git's hash as their tag. */
  readonly large?: boolean;
  readonly faults?: Fault[];
  /** Sends no hash. */
  readonly bare?: boolean;
}

export interface HubRequest {
  readonly path: string;
  readonly range: string | undefined;
}

/** A model hub on a free port of this machine, with its paths, hashes and redirections, and with faults on demand. */
export async function startHub(t: Pick<Test, 'teardown'>, files: Record<string, HubFile>) {
  const requests: HubRequest[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://hub');
    const stored = url.pathname.startsWith('/storage');
    const path = decodeURIComponent(url.pathname.replace('/storage', ''));
    const file = files[path];
    if (!file) return void response.writeHead(404).end();
    if (file.large && !stored) {
      const hash = createHash('sha256').update(file.content).digest('hex');
      const linked = file.bare ? {} : { 'X-Linked-Etag': `"${hash}"`, 'X-Linked-Size': file.content.length };
      return void response.writeHead(302, { Location: `/storage${path}`, ...linked }).end();
    }
    requests.push({ path, range: request.headers.range });
    answer(request, response, file);
  });
  return { url: (await listening(t, server)).url, requests };
}

function tagOf({ content, large, bare }: HubFile): string {
  if (large || bare) return `"${createHash('md5').update(content).digest('hex')}-1"`;
  return `"${createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')}"`;
}

function answer(request: IncomingMessage, response: ServerResponse, file: HubFile): void {
  const fault = file.faults?.shift();
  if (fault && 'status' in fault) return void response.writeHead(fault.status).end();
  const tag = tagOf(file);
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const honoured = range && request.headers['if-range'] === tag && !(fault && 'ranges' in fault);
  const start = honoured ? Number(range[1]) : 0;
  if (honoured && start >= file.content.length)
    return void response
      .writeHead(416, { 'Content-Range': `bytes */${file.content.length}`, ETag: tag })
      .end();
  let body = file.content.subarray(start);
  if (fault && 'wrongBytes' in fault) body = Buffer.from(body.map((byte) => byte ^ 1));
  response.writeHead(honoured ? 206 : 200, {
    ETag: tag,
    'Content-Length': body.length,
    ...(honoured && { 'Content-Range': `bytes ${start}-${file.content.length - 1}/${file.content.length}` }),
  });
  if (fault && 'breakAfter' in fault) {
    const breakOff = () => {
      if (fault.when && !fault.when() && !response.destroyed) setTimeout(breakOff, 2);
      else response.destroy();
    };
    response.write(body.subarray(0, fault.breakAfter), breakOff);
    return;
  }
  response.end(body);
}
