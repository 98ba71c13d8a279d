import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import type { Peer } from './peer.ts';
import { PeerConnections } from './peer-connections.ts';
import { PEER_HEADER, type PeerSignatures } from './peer-signature.ts';

/** Nothing of the call happened: the peer was unreachable, or does not own the slot. */
export class PeerAwayError extends Error {
  override readonly name = 'PeerAwayError';
}

/** The call may have happened. */
export class PeerLostError extends Error {
  override readonly name = 'PeerLostError';
}

export interface PeerCalls {
  /**
   * POST <peer.url>/peer/v1/<name> with a JSON body, signed. Resolves with its JSON answer.
   * @throws what the peer's handler threw as FarthingError (same code, detail, facts, retryAfterS), PeerAwayError, PeerLostError
   */
  call(peer: Peer, name: string, body: object, options?: { readonly timeoutMs?: number }): Promise<unknown>;
}

/** Below it are the calls. */
export const PEER_PATH = '/peer/v1/';
/** SHA-256 of a call's body, in hexadecimal. */
export const PEER_DIGEST_HEADER = 'farthing-digest';
/** `done`, `failed` or `away`; absent if no handler ran. */
export const PEER_OUTCOME_HEADER = 'farthing-outcome';
/** Maximum size of a call's body and of its answer's. */
export const PEER_BODY_BYTES_MAX = 2 ** 20;

const TIMEOUT_MS = 5000;
const SOCKETS_MAX = 64;

/** Subject of a call's signature. @param digest SHA-256 of its body, in hexadecimal */
export function aboutCall(digest: string): string {
  return `body ${digest}`;
}

/** Calls over HTTP. */
export class HttpPeerCalls implements PeerCalls {
  readonly #signatures: PeerSignatures;
  readonly #connections: PeerConnections;

  /** @param ca of peers with HTTPS, as PEM; absent: the authorities that Node trusts */
  constructor(signatures: PeerSignatures, ca?: string) {
    this.#signatures = signatures;
    this.#connections = new PeerConnections(ca, SOCKETS_MAX);
  }

  async call(
    peer: Peer,
    name: string,
    body: object,
    { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
  ): Promise<unknown> {
    const { status, outcome, retryAfterS, text } = await this.#ask(
      peer,
      PEER_PATH + name,
      JSON.stringify(body),
      timeoutMs,
    );
    if (outcome === undefined || outcome === 'away')
      throw new PeerAwayError(`${name}: ${peer.id} answered ${status}`);
    const answer = parsed(text);
    if (answer === undefined) throw new PeerLostError(`${name}: ${peer.id} answered what cannot be read`);
    if (outcome === 'done') return answer;
    throw errorOf(answer, retryAfterS) ?? new PeerLostError(`${name}: ${peer.id} answered ${status}`);
  }

  close(): void {
    this.#connections.close();
  }

  #ask(peer: Peer, path: string, body: string, timeoutMs: number): Promise<Answered> {
    const digest = hash('sha256', body, 'hex');
    const headers = {
      host: new URL(peer.url).host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [PEER_DIGEST_HEADER]: digest,
      [PEER_HEADER]: this.#signatures.sign(peer.id, { method: 'POST', path, about: aboutCall(digest) }),
    };
    const { request, mayHaveArrived } = this.#connections.open(peer, { method: 'POST', path, headers });
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => request.destroy(new Error('it takes too long')), timeoutMs);
      const fail = (error: unknown) => {
        const said = `${path}: ${peer.id}: ${String(error)}`;
        reject(mayHaveArrived() ? new PeerLostError(said) : new PeerAwayError(said));
      };
      request.once('error', fail);
      request.once('response', (response) => void read(response).then(resolve, fail));
      request.once('close', () => clearTimeout(late));
      request.end(body);
    });
  }
}

interface Answered {
  readonly status: number;
  readonly outcome: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly text: string;
}

async function read(response: IncomingMessage): Promise<Answered> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    bytes += piece.length;
    if (bytes > PEER_BODY_BYTES_MAX) throw new Error('the answer is too large');
    pieces.push(piece);
  }
  const retryAfter = response.headers['retry-after'];
  return {
    status: response.statusCode!,
    outcome: response.headers[PEER_OUTCOME_HEADER] as string | undefined,
    retryAfterS: retryAfter === undefined ? undefined : Number(retryAfter),
    text: Buffer.concat(pieces).toString('utf8'),
  };
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a problem document; undefined for another document. */
function errorOf(problem: object, retryAfterS: number | undefined): FarthingError | undefined {
  const code = errorCode(problem);
  if (code === undefined) return undefined;
  const {
    type,
    title,
    status,
    code: _,
    detail,
    request_id,
    charged,
    ...facts
  } = problem as Record<string, unknown>;
  return new FarthingError(code, String(detail), {
    facts,
    ...(retryAfterS !== undefined && { retryAfterS }),
  });
}
