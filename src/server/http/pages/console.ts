import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import type { Exchange } from '../exchange/exchange.ts';
import type { BytesReply } from '../exchange/reply.ts';
import type { Route } from '../exchange/route.ts';
import { type Asset, type Encoded, type Encoding, encoded, give } from './asset.ts';

const SUFFIXES: Readonly<Record<string, Encoding>> = { '.br': 'br', '.gz': 'gzip' };
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  // Sample files.
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Nothing inline and nothing from other origins. The page makes blobs of the workspace's pictures and videos. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NO_GUESSING = { 'X-Content-Type-Options': 'nosniff' };
const PAGE_HEADERS = {
  ...NO_GUESSING,
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};
/** A name holds a digest of its content. */
const ASSET_HEADERS = { ...NO_GUESSING, 'Cache-Control': 'public, max-age=31536000, immutable' };

/** The console's assets and icon, read once from the folder that `make console` built. */
export function consoleRoutes(folder: string): Route[] {
  return [consoleAssets(folder), iconRoute(folder)];
}

/** Answers with a page of the folder. Without it the server starts all the same, and the answer says what to do. */
export function pageOf(folder: string, name: string): (exchange: Exchange) => BytesReply {
  const page = readAssets(folder).get(name);
  return (exchange) => {
    if (!page) throw new FarthingError('not_found', 'The console is not built: `make console` does it.');
    return give(exchange, page, PAGE_HEADERS);
  };
}

/** The console's icon where browsers look that have not read its page. */
function iconRoute(folder: string): Route {
  const icon = [...readAssets(join(folder, 'assets'))].find(([name]) => name.endsWith('.svg'))?.[1];
  return {
    method: 'GET',
    path: '/favicon.ico',
    handle: (exchange) => {
      if (!icon) throw new FarthingError('not_found', 'The console is not built: `make console` does it.');
      return give(exchange, icon, { ...NO_GUESSING, 'Cache-Control': 'public, max-age=86400' });
    },
  };
}

function consoleAssets(folder: string): Route {
  const assets = readAssets(join(folder, 'assets'));
  return {
    method: 'GET',
    path: '/assets/{name}',
    handle: (exchange, { name }) => {
      const asset = assets.get(name!);
      if (!asset) throw new FarthingError('not_found', 'The console has no such file.');
      return give(exchange, asset, ASSET_HEADERS);
    },
  };
}

function readAssets(folder: string): Map<string, Asset> {
  const found = new Map<string, Asset & { encodings: Map<Encoding, Encoded> }>();
  for (const entry of entriesOf(folder)) {
    const encoding = SUFFIXES[extname(entry)] ?? 'identity';
    const name = encoding === 'identity' ? entry : entry.slice(0, -extname(entry).length);
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const asset = found.get(name) ?? { type, encodings: new Map() };
    asset.encodings.set(encoding, encoded(readFileSync(join(folder, entry))));
    found.set(name, asset);
  }
  return found;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
