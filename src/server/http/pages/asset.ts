import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Exchange } from '../exchange/exchange.ts';
import type { BytesReply } from '../exchange/reply.ts';

/** Bytes that are made once and sent many times, in several encodings. */
export interface Asset {
  readonly type: string;
  readonly encodings: ReadonlyMap<Encoding, Encoded>;
}

export type Encoding = 'br' | 'gzip' | 'identity';

export interface Encoded {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** Level 5 of 11 makes 10 kB of the 135 kB of the description within 4 ms; level 11 makes 9 kB within 64 ms. */
const BROTLI_QUALITY = 5;

export function encoded(bytes: Uint8Array): Encoded {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, etag: `"${digest}"` };
}

/**
 * Answers with a text that is made and compressed once, and again when its key changes.
 * @param dependsOn the key, read at each request
 */
export function keptText(
  type: string,
  headers: Readonly<Record<string, string>>,
  { dependsOn, make }: { readonly dependsOn: () => string; readonly make: () => string },
): (exchange: Pick<Exchange, 'header'>) => BytesReply {
  let kept: { readonly key: string; readonly asset: Asset } | undefined;
  return (exchange) => {
    const key = dependsOn();
    if (kept?.key !== key) kept = { key, asset: compressed(type, make()) };
    return give(exchange, kept.asset, headers);
  };
}

function compressed(type: string, text: string): Asset {
  const bytes = Buffer.from(text);
  const brotli = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
    },
  });
  return {
    type,
    encodings: new Map([
      ['identity', encoded(bytes)],
      ['gzip', encoded(gzipSync(bytes))],
      ['br', encoded(brotli)],
    ]),
  };
}

/** The asset in the smallest encoding that the client accepts; 304 when the client has it. */
export function give(
  exchange: Pick<Exchange, 'header'>,
  asset: Asset,
  headers: Readonly<Record<string, string>>,
): BytesReply {
  const encoding = chooseEncoding(exchange.header('accept-encoding') ?? '', asset);
  const { bytes, etag } = asset.encodings.get(encoding)!;
  const shared = { ...headers, ETag: etag, Vary: 'Accept-Encoding' };
  if (isKnown(exchange.header('if-none-match') ?? '', etag))
    return { status: 304, headers: shared, raw: bytes };
  const coded: Record<string, string> = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
  return { status: 200, headers: { ...shared, ...coded, 'Content-Type': asset.type }, raw: bytes };
}

/** The smallest encoding that the client accepts (RFC 9110, 12.5.3; a weight of 0 refuses). */
function chooseEncoding(accepted: string, { encodings }: Asset): Encoding {
  const named = new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      return [name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))];
    }),
  );
  const takes = (encoding: Encoding) => encodings.has(encoding) && named.get(encoding) === true;
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity';
}

export function isKnown(header: string, etag: string): boolean {
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
