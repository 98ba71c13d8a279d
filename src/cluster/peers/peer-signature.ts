import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** `v1 <node> <unix ms> <mac>[,<mac>…]`: one for each cluster key, so that a change of keys parts no servers. */
export const PEER_HEADER = 'farthing-peer';

/** Clocks of two servers may differ by so much. */
const APART_MS_MAX = 5 * 60_000;
const MACS_MAX = 4;
const KEY_BYTES = 32;
const HEADER = /^v1 (\S{1,384}) (\d{1,15}) ([\w,-]{43,200})$/;

/** The signed parts of a request. */
export interface Signed {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** `body` and its SHA-256 in hexadecimal for a call; `forwarded` and the request id for a client's request. */
  readonly about: string;
}

/**
 * Keys by which servers of a cluster know each other.
 * @param text of the cluster key's file: keys of 64 hexadecimal digits, the one in use first
 */
export function peerKeysOf(text: string): readonly Uint8Array[] {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  return lines
    .slice(0, MACS_MAX)
    .map(
      (line) => new Uint8Array(hkdfSync('sha256', Buffer.from(line, 'hex'), '', 'farthing/peers', KEY_BYTES)),
    );
}

/** Signs requests to other servers of the cluster, and knows theirs. A signature may be sent again within five minutes. */
export class PeerSignatures {
  readonly #keys: readonly Uint8Array[];
  readonly #node: string;
  readonly #now: () => number;

  /**
   * @param keys of `peerKeysOf`
   * @param node this server's FARTHING_NODE_ID
   */
  constructor(keys: readonly Uint8Array[], node: string, now: () => number = Date.now) {
    this.#keys = keys;
    this.#node = node;
    this.#now = now;
  }

  /** @param to id of the server that it is for: to another one it says nothing. @returns the value of the header `PEER_HEADER` */
  sign(to: string, signed: Signed): string {
    const time = String(this.#now());
    const macs = this.#keys.map((key) =>
      macOf(key, { from: this.#node, to, time, signed }).toString('base64url'),
    );
    return `v1 ${encodeURIComponent(this.#node)} ${time} ${macs.join(',')}`;
  }

  /** @returns the id of the server that signed; undefined for any other sender */
  signerOf(header: string | undefined, signed: Signed): string | undefined {
    const [, encoded, time, sent] = HEADER.exec(header ?? '') ?? [];
    if (encoded === undefined || Math.abs(this.#now() - Number(time)) > APART_MS_MAX) return undefined;
    const node = decoded(encoded);
    const macs = sent!.split(',', MACS_MAX).map((mac) => Buffer.from(mac, 'base64url'));
    const isOurs = this.#keys.some((key) => {
      const expected = macOf(key, { from: node, to: this.#node, time: time!, signed });
      return macs.some((mac) => mac.length === expected.length && timingSafeEqual(mac, expected));
    });
    return isOurs ? node : undefined;
  }
}

function macOf(
  key: Uint8Array,
  { from, to, time, signed }: { from: string; to: string; time: string; signed: Signed },
): Buffer {
  const { method, path, about } = signed;
  return createHmac('sha256', key)
    .update(JSON.stringify([from, to, time, method, path, about]))
    .digest();
}

/** Malformed; no signature can match. */
function decoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}
