import type { Item } from '../../api/items.ts';

const NAME_LENGTH_MAX = 150;
/** Half a character: it cannot be encoded. */
const LONE_SURROGATE = /^[\ud800-\udfff]$/;

/**
 * Headers of a stored file that came from a stranger: a browser saves it, guesses no other type, and, should it show it
 * after all, runs nothing in it.
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

/** RFC 6266: a plain name for old clients, and the whole one percent-encoded (RFC 8187). */
function contentDisposition(name: string): string {
  const characters = [...name].slice(0, NAME_LENGTH_MAX).map((one) => (LONE_SURROGATE.test(one) ? '_' : one));
  const plain = characters.map((one) => (/^[\w.\- ]$/.test(one) ? one : '_')).join('');
  const encoded = encodeURIComponent(characters.join('')).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
