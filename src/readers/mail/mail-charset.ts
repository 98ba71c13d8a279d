import { isUtf8 } from 'node:buffer';
import { readText } from '../text/charset.ts';

const CONTENT_TYPE = /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const HEAD_END = /\r?\n\r?\n/;
/** Names that say nothing of bytes beyond ASCII. */
const UNSTATED = /;\s*charset\s*=\s*"?(?:us-ascii|unknown-8bit|default)"?/i;

/**
 * A mail whose parts all say their character set, in bytes: UTF-16 becomes UTF-8, parts that state none get the likeliest of the
 * whole mail, and so does a head that was never encoded.
 * @returns `guessed` where a character set had to be guessed
 */
export function withCharsets(bytes: Uint8Array): { bytes: Uint8Array; guessed: boolean } {
  const unchanged = { bytes, guessed: false };
  const hasEscapes = bytes.includes(0x1b);
  if (!hasEscapes && bytes[0] !== 0xff && bytes[0] !== 0xfe && bytes[1] !== 0 && isUtf8(bytes))
    return unchanged;
  const found = readText(bytes);
  if (!found || found.charset.name === 'utf-8') return unchanged;
  const { name } = found.charset;
  if (name.startsWith('utf-16')) return { bytes: Buffer.from(found.text), guessed: false };
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const headEnd = HEAD_END.exec(source)?.index ?? source.length;
  let guessed = false;
  const stated = (part: string): string =>
    part.replace(CONTENT_TYPE, (field) => {
      const isText = /^content-type:\s*text\//i.test(field);
      const bare = field.replace(UNSTATED, '');
      if (!isText || /charset\s*=/i.test(bare)) return field;
      guessed = true;
      return `${bare.replace(/;?\s*$/, '')}; charset=${name}`;
    });
  const head = decodedHead(bytes.subarray(0, headEnd), name);
  const isTyped = /^content-type:/im.test(head);
  if (!isTyped) guessed = true;
  const fields = isTyped ? head : `Content-Type: text/plain; charset=${name}\n${head}`;
  const body = stated(source.slice(headEnd));
  return { bytes: Buffer.concat([Buffer.from(stated(fields)), Buffer.from(body, 'latin1')]), guessed };
}

/** Fields of a head that has bytes beyond ASCII. */
function decodedHead(head: Uint8Array, name: string): string {
  const charset = isUtf8(head) ? 'utf-8' : name;
  try {
    return new TextDecoder(charset).decode(head);
  } catch {
    return Buffer.from(head).toString('latin1');
  }
}
