import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Facilitators' answers are small; more than this is none of theirs. */
const REPLY_BYTES_MAX = 64 * 1024;

export type JsonReply =
  /** `body` is undefined when it was no JSON, or over the limit; `retryAfter`: it says when to come again. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly body: unknown;
      readonly retryAfter: boolean;
    }
  /** Certain: the request did not reach the server. */
  | { readonly kind: 'not_sent'; readonly detail: string }
  /** The request may have been acted upon, and the answer is lost. */
  | { readonly kind: 'lost'; readonly detail: string };

/** Failures that come before the first byte of a request is sent. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNECTTIMEOUT',
]);
/** A connection that is not there by then: the request was certainly not sent. */
const CONNECT_DEADLINE_MS = 4000;
/** Idle connections are given up before a facilitator's own time-out, of which 5 s is the shortest common one. */
const KEEP_ALIVE = { keepAlive: true, keepAliveMsecs: 1000, timeout: 4000, maxFreeSockets: 64 };
const AGENTS = { 'http:': new HttpAgent(KEEP_ALIVE), 'https:': new HttpsAgent(KEEP_ALIVE) };

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly body?: unknown;
  readonly bearerToken?: string;
  readonly deadlineMs: number;
  /** Of the answer that is read. */
  readonly replyBytesMax?: number;
}

/**
 * One HTTP exchange of JSON within a deadline, over connections that are kept alive. Never throws, follows no redirect. Node's own
 * client: two of these stand in every paid request, and `fetch` takes three times the processor time.
 */
export function exchangeJson(url: string, request: JsonRequest): Promise<JsonReply> {
  return new Promise((resolve) => {
    try {
      send(new URL(url), request, resolve);
    } catch (error) {
      resolve({ kind: 'not_sent', detail: String(error) });
    }
  });
}

function send(
  url: URL,
  { method, body, bearerToken, deadlineMs, replyBytesMax = REPLY_BYTES_MAX }: JsonRequest,
  done: (reply: JsonReply) => void,
): void {
  const https = url.protocol === 'https:';
  const content = body === undefined ? undefined : JSON.stringify(body);
  const sent = (https ? httpsRequest : httpRequest)(url, {
    method,
    agent: AGENTS[https ? 'https:' : 'http:'],
    headers: {
      accept: 'application/json',
      ...(content !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(content),
      }),
      ...(bearerToken !== undefined && { authorization: `Bearer ${bearerToken}` }),
    },
  });
  const settle = (reply: JsonReply): void => {
    clearTimeout(deadline);
    clearTimeout(connecting);
    done(reply);
  };
  const deadline = setTimeout(() => sent.destroy(withCode('TimeoutError')), deadlineMs);
  const connecting = setTimeout(() => {
    if (sent.socket?.connecting !== false) sent.destroy(withCode('ECONNECTTIMEOUT'));
  }, CONNECT_DEADLINE_MS);
  sent.on('error', (error) => settle(classify(error, deadlineMs)));
  sent.on('response', (response) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    response.on('data', (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes <= replyBytesMax) pieces.push(piece);
      else response.destroy();
    });
    response.on('error', (error) => settle(classify(error, deadlineMs)));
    response.on('close', () => {
      const tooLong = bytes > replyBytesMax;
      const text = tooLong ? '' : Buffer.concat(pieces).toString('utf8');
      const { statusCode: status = 0, headers } = response;
      const retryAfter = headers['retry-after'] !== undefined;
      if (response.complete || tooLong) settle({ kind: 'reply', status, body: parse(text), retryAfter });
      else settle({ kind: 'lost', detail: 'the answer was cut off' });
    });
  });
  sent.end(content);
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function classify(error: unknown, deadlineMs: number): JsonReply {
  const { code, errors = [] } = error as { code?: string; errors?: { code?: string }[] };
  if (code === 'TimeoutError') return { kind: 'lost', detail: `no answer within ${deadlineMs} ms` };
  // A host of several addresses fails with one error for each.
  const codes = (errors.length > 0 ? errors.map((each) => each.code) : [code]).filter(
    (each) => each !== undefined,
  );
  const detail = codes.join(', ') || String(error);
  return codes.length > 0 && codes.every((each) => BEFORE_SENDING.has(each))
    ? { kind: 'not_sent', detail }
    : { kind: 'lost', detail };
}
