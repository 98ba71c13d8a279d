import { setTimeout as pause } from 'node:timers/promises';
import { sign, v1Header, wallet } from '../../test/payment/rig/payments.ts';

/** An attacker's knowledge: the address, and the id and token of a workspace that it rented for a cent. */
export interface Target {
  readonly url: string;
  readonly workspace: { readonly path: string; readonly token: string };
  /** The server's data: an operator's backup runs beside. */
  readonly folder: string;
}

export const MEBIBYTE = 2 ** 20;
export const PIECE_BYTES = 64 * 1024;
const DRIP_MS = 500;
/** Where the attack is what is held open: refusals are not to become a flood of requests. */
export const REFUSED_PAUSE_MS = 2000;

/** In atomic units: more than a new wallet has. */
export const PRICE = 30_000n;

export const head = (request: string, headers = '') =>
  `${request} HTTP/1.1\r\nHost: besieged\r\n${headers}\r\n`;
export const bearer = ({ workspace }: Target) => `Authorization: Bearer ${workspace.token}\r\n`;
export const payment = async () => `X-PAYMENT: ${v1Header(await sign(wallet(), { value: PRICE }))}\r\n`;
export const length = (bytes: number) => `Content-Length: ${bytes}\r\n`;

/** One request, whose connection ends with it. */
export function post(path: string, headers: string, body: Uint8Array | string): (Uint8Array | string)[] {
  return [head(`POST ${path}`, `${headers}Connection: close\r\n${length(body.length)}`), ...inPieces(body)];
}

export function inPieces(body: Uint8Array | string): (Uint8Array | string)[] {
  return Array.from({ length: Math.ceil(body.length / PIECE_BYTES) }, (_, at) =>
    body.slice(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  );
}

export async function* dripping(first: Iterable<Uint8Array | string>): AsyncGenerator<Uint8Array | string> {
  yield* first;
  for (;;) {
    yield 'x';
    await pause(DRIP_MS);
  }
}

export function* chunks(mebibytes: number): Generator<string> {
  const chunk = `${PIECE_BYTES.toString(16)}\r\n${'word '.repeat(PIECE_BYTES).slice(0, PIECE_BYTES)}\r\n`;
  for (let sent = 0; sent < mebibytes * MEBIBYTE; sent += PIECE_BYTES) yield chunk;
  yield '0\r\n\r\n';
}

export const mcp = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n';
