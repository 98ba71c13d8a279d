/** Facilitators' answers are small; more than this is none of theirs. */
const REPLY_BYTES_MAX = 64 * 1024;

export type JsonReply =
  /** `body` is undefined when it was no JSON. */
  | { readonly kind: 'reply'; readonly status: number; readonly body: unknown }
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
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** One HTTP exchange of JSON within a deadline, over connections that are kept alive. Never throws. */
export async function exchangeJson(
  url: string,
  options: { method: 'GET' | 'POST'; body?: unknown; bearerToken?: string; deadlineMs: number },
): Promise<JsonReply> {
  const { method, body, bearerToken, deadlineMs } = options;
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(deadlineMs),
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(bearerToken !== undefined && { authorization: `Bearer ${bearerToken}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { kind: 'reply', status: response.status, body: parse(await readLimited(response)) };
  } catch (error) {
    return classify(error, deadlineMs);
  }
}

async function readLimited(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > REPLY_BYTES_MAX) return '';
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function classify(error: unknown, deadlineMs: number): JsonReply {
  const { name, cause } = error as { name?: string; cause?: { code?: string; errors?: { code?: string }[] } };
  if (name === 'TimeoutError') return { kind: 'lost', detail: `no answer within ${deadlineMs} ms` };
  const codes = [cause?.code, ...(cause?.errors ?? []).map((each) => each.code)].filter(
    (code) => code !== undefined,
  );
  const detail = codes.join(', ') || String(error);
  return codes.length > 0 && codes.every((code) => BEFORE_SENDING.has(code))
    ? { kind: 'not_sent', detail }
    : { kind: 'lost', detail };
}
