import { isAscii, isUtf8 } from 'node:buffer';

/** Control characters that text does not hold. A byte that Windows-1252 leaves undefined decodes to one as well. */
const FOREIGN_CONTROL = /(?![\t\n\f\r])\p{Cc}/gu;

/** Share of control characters above which bytes are no text: compressed data has a tenth, a coloured log a hundredth. */
const FOREIGN_SHARE_MAX = 0.02;

/** Bytes of the start that tell text from other bytes, and UTF-16 from other text. */
const PROBE_BYTES = 256 * 1024;
/** Where a page or an XML document says what its character set is (HTML, 4.2.5.4). */
const DECLARED_BYTES = 1024;
const DECLARED = [
  /^\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i,
  /<meta\s[^>]{0,300}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i,
];
/** Share of the letters beyond ASCII that may be damaged in UTF-8; of those in another character set, nearly all are. */
const DAMAGED_SHARE_MAX = 0.1;

/**
 * Decodes text: UTF-8, UTF-16 (with or without a byte order mark), what an HTML or XML document says that it is written in, or
 * Windows-1252, which Latin-1 is a part of.
 * @returns undefined when the bytes are no text. Control characters that remain are dropped, line ends become "\n".
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
  // Letters beyond ASCII that are right by UTF-8's rules are no accident, whatever a document says of itself.
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
  // Nothing of UTF-16 can be read as letters of one byte.
  return name === undefined || /^utf-?16/i.test(name) ? undefined : name;
}

/** Undefined when a byte is none of the character set, or nobody knows that set. */
function decodeWhole(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-8 of which some letters are damaged; undefined for text in another character set. */
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

/** By its mark; without one, by zeros in every other byte, as Latin letters have them. */
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
