import type { Item } from '@farthing/protocol/schema/items';

const NAME_LENGTH_MAX = 150;
/** A lone surrogate cannot be encoded. */
const LONE_SURROGATE = /^[\ud800-\udfff]$/;

/**
 * Headers of an untrusted stored file: a browser saves it, does not guess another type, and runs nothing in it if it
 * shows it.
 */
export function attachmentHeaders({
  name,
  media_type,
}: Pick<Item, 'name' | 'media_type'>): Record<string, string> {
  return {
    'Content-Type': media_type,
    'Content-Disposition': contentDisposition(name),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'private, no-store',
  };
}

/** RFC 6266: a plain name for old clients, and the full one percent-encoded (RFC 8187). */
function contentDisposition(name: string): string {
  const characters = [...name]
    .slice(0, NAME_LENGTH_MAX)
    .map((character) => (LONE_SURROGATE.test(character) ? '_' : character));
  const plain = characters.map((character) => (/^[\w.\- ]$/.test(character) ? character : '_')).join('');
  const encoded = encodeURIComponent(characters.join('')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
