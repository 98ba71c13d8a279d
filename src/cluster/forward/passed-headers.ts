import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** Hop-by-hop headers (RFC 9110, 7.6.1), and those that the next server writes itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'expect',
]);
/** uWebSockets.js writes them into every answer. */
const OF_THE_LISTENER = new Set(['date', 'uwebsockets']);
/** Headers between servers of a cluster: dropped from a client's request, and never sent to a client. */
const INTERNAL = /^farthing-/i;

/** Another server owns the slot now, and nothing happened. */
export const ELSEWHERE_HEADER = 'farthing-slot';
/** The request's token or payment was valid: its sender counts as known. */
export const ACCEPTED_HEADER = 'farthing-accepted';
/** Id under which the delivery of the answer is to be reported. */
export const DELIVERY_HEADER = 'farthing-delivery';

/** Subject of the signature of a client's request that a server passes on. */
export function aboutForwarded(requestId: string): string {
  return `forwarded ${requestId}`;
}

/** Characters that no header value may have (RFC 9110, 5.5 and 5.6.2), though uWebSockets.js accepts them. */
const OF_NO_VALUE = /[^\t -~]/g;
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

/** A client's headers for the next server. Those that frame the body are left out. */
export function passedOn(headers: ReadonlyMap<string, string>): OutgoingHttpHeaders {
  const named = namedBy(headers.get('connection'));
  const passed: OutgoingHttpHeaders = {};
  for (const [name, value] of headers)
    if (!OF_THE_CONNECTION.has(name) && !named.has(name) && !INTERNAL.test(name) && NAME.test(name))
      passed[name] = value.replace(OF_NO_VALUE, ' ');
  return passed;
}

/** Headers of another server's answer for the client, in order, as they were written. */
export function passedBack(answer: IncomingMessage): [name: string, value: string][] {
  const named = namedBy(answer.headers.connection);
  const passed: [string, string][] = [];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [written, value] = answer.rawHeaders.slice(at, at + 2) as [string, string];
    const name = written.toLowerCase();
    if (OF_THE_CONNECTION.has(name) || OF_THE_LISTENER.has(name) || named.has(name) || INTERNAL.test(name))
      continue;
    passed.push([written, value]);
  }
  return passed;
}

/** Node writes paths as Latin-1, and uWebSockets.js reads them as UTF-8: so the same bytes are sent that came. It reads no other headers than of ASCII. */
export function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Headers that `Connection` names are of the connection too. */
function namedBy(connection = ''): ReadonlySet<string> {
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
