import { isAscii, isUtf8 } from 'node:buffer';

/** Control characters that text does not contain. Bytes that Windows-1252 leaves undefined decode to them too. */
const FOREIGN_CONTROL = /(?![\t\n\f\r])\p{Cc}/gu;

/** Text has at most this share of control characters. Compressed data has a tenth, a coloured log a hundredth. */
const FOREIGN_SHARE_MAX = 0.02;

/** Bytes from the start by which text and UTF-16 are recognised. */
const PROBE_BYTES = 256 * 1024;
/** Bytes in which a page or an XML document declares its character set (HTML, 4.2.5.4). */
const DECLARED_BYTES = 1024;
const DECLARED = [
  /^\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i,
  /<meta\s[^>]{0,300}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i,
];
/** Damaged UTF-8 has at most this share of broken letters among those beyond ASCII. In other character sets nearly all are. */
const DAMAGED_SHARE_MAX = 0.1;

/**
 * Decodes text: UTF-8, UTF-16 (with or without a byte order mark), the character set that an HTML or XML document declares,
 * or Windows-1252, which contains Latin-1. Control characters are dropped; line ends become "\n".
 * @returns undefined when the bytes are no text.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const probe = bytes.subarray(0, PROBE_BYTES);
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const utf16 = isMarked ? undefined : recogniseUtf16(probe);
  if (!isMarked && !isText(decodeBytes(probe, utf16))) return undefined;
  const text = isMarked ? new TextDecoder().decode(bytes) : decodeBytes(bytes, utf16);
  return withoutControls(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
}

export function withoutControls(text: string): string {
  return text.replace(FOREIGN_CONTROL, '');
}

function isText(probe: string): boolean {
  return (probe.match(FOREIGN_CONTROL)?.length ?? 0) <= probe.length * FOREIGN_SHARE_MAX;
}

function decodeBytes(bytes: Uint8Array, utf16: string | undefined): string {
  if (utf16) return new TextDecoder(utf16).decode(bytes);
  // Valid UTF-8 with letters beyond ASCII is no accident, whatever the document declares.
  const declared = declaredCharset(bytes);
  if (isUtf8(bytes) && !(declared && isAscii(bytes))) return new TextDecoder().decode(bytes);
  return (
    (declared && decodeWhole(bytes, declared)) ??
    damagedUtf8(bytes) ??
    new TextDecoder('windows-1252').decode(bytes)
  );
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, DECLARED_BYTES)).toString('latin1');
  if (!/^\s*</.test(start)) return undefined;
  const name = DECLARED.map((pattern) => pattern.exec(start)?.[1]).find((found) => found !== undefined);
  // UTF-16 could not have been read as letters of one byte.
  return name === undefined || /^utf-?16/i.test(name) ? undefined : name;
}

/** Undefined for an unknown character set, or a byte that is not in it. */
function decodeWhole(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-8 with some damaged letters; undefined for text in another character set. */
function damagedUtf8(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes);
  let [foreign, damaged] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) foreign++;
    if (code === 0xfffd) damaged++;
  }
  return damaged <= foreign * DAMAGED_SHARE_MAX ? text : undefined;
}

/** By its byte order mark; without one, by zeros in every other byte, as in Latin letters. */
function recogniseUtf16(probe: Uint8Array): string | undefined {
  if (probe[0] === 0xff && probe[1] === 0xfe) return 'utf-16le';
  if (probe[0] === 0xfe && probe[1] === 0xff) return 'utf-16be';
  const pairs = Math.floor(probe.length / 2);
  let even = 0;
  let odd = 0;
  for (let index = 0; index < pairs; index++) {
    if (probe[2 * index] === 0) even++;
    if (probe[2 * index + 1] === 0) odd++;
  }
  if (pairs < 4) return undefined;
  if (odd > pairs * 0.4 && even < pairs * 0.02) return 'utf-16le';
  return even > pairs * 0.4 && odd < pairs * 0.02 ? 'utf-16be' : undefined;
}
