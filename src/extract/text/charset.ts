import { isAscii, isUtf8 } from 'node:buffer';
import { looksLikeWriting } from './writing.ts';

/** Control characters that text does not contain. Bytes that Windows-1252 leaves undefined decode to them too. */
const FOREIGN_CONTROL = /(?![\t\n\f\r])\p{Cc}/gu;
/** The same without the first one of a terminal's control sequence (ECMA-48, 5.4), as coloured logs have them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it is about
const STRAY_CONTROL = /(?!\x1b[@-_]|[\t\n\f\r])\p{Cc}/u;
/** Code points that no text has: unassigned, private, half of a pair, damaged. */
const UNWRITTEN = /[\p{Cn}\p{Co}\p{Cs}\ufffd]/gu;
const KANA = /[\u3041-\u30fe]/g;
const RARE_IN_JAPANESE = /[\p{Co}\uff61-\uff9f]/gu;
const BEYOND_ASCII = /[^\p{ASCII}]+/gu;

/** Text has at most this share of control characters. Compressed data has a tenth, a coloured log a hundredth. */
const FOREIGN_SHARE_MAX = 0.02;
/** Japanese text has at least this share of kana among its letters. */
const KANA_SHARE_MIN = 0.2;
const RARE_SHARE_MAX = 0.1;
const KANA_KINDS_MIN = 12;
/** Letters in a row, in the mean. */
const JAPANESE_WORD_MIN = 2;
const JAPANESE = ['shift_jis', 'euc-jp'];

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
/** With less damage than this, letters of two bytes are letters. */
const RARELY_DAMAGED_SHARE = 0.01;

/**
 * Decodes text: UTF-8, UTF-16 (with or without a byte order mark), the character set that an HTML or XML document declares,
 * Shift-JIS and EUC-JP, or Windows-1252, which contains Latin-1. Control characters are dropped; line ends become "\n".
 * @returns undefined when the bytes are no text. A zero byte outside UTF-16 is in no text, and in every binary header.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const probe = bytes.subarray(0, PROBE_BYTES);
  const decode = decoderOf(bytes, probe);
  const start = decode?.(probe);
  if (!decode || start === undefined || !isText(start)) return undefined;
  const text = probe.length === bytes.length ? start : decode(bytes);
  return text && withoutControls(withPlainLineEnds(text));
}

/** Characters that are replaced in at a time: the places of all replacements are in memory together. */
const REPLACED_AT_ONCE = 64 * 1024;

function withPlainLineEnds(text: string): string {
  if (!text.includes('\r')) return text;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = at + REPLACED_AT_ONCE;
    // A pair stays together.
    if (text[end - 1] === '\r' && text[end] === '\n') end++;
    pieces.push(text.slice(at, end).replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
    at = end;
  }
  return pieces.join('');
}

export function withoutControls(text: string): string {
  return text.replace(FOREIGN_CONTROL, '');
}

type Decoder = (bytes: Uint8Array) => string | undefined;

/** Undefined for bytes that are no text whatever the character set. */
function decoderOf(bytes: Uint8Array, probe: Uint8Array): Decoder | undefined {
  const utf16 = recogniseUtf16(probe);
  if (utf16) return (part) => writtenText(new TextDecoder(utf16.charset).decode(part), utf16.isMarked);
  if (bytes.includes(0)) return undefined;
  return probe[0] === 0xef && probe[1] === 0xbb && probe[2] === 0xbf ? damagedUtf8 : decodeBytes;
}

/** The text of UTF-16; undefined for other data that begins with a mark, or has zeros in every other byte. */
function writtenText(text: string, isMarked: boolean): string | undefined {
  if (!isMarked && STRAY_CONTROL.test(text)) return undefined;
  return (text.match(UNWRITTEN)?.length ?? 0) <= text.length * FOREIGN_SHARE_MAX ? text : undefined;
}

function isText(probe: string): boolean {
  return (probe.match(FOREIGN_CONTROL)?.length ?? 0) <= probe.length * FOREIGN_SHARE_MAX;
}

function decodeBytes(bytes: Uint8Array): string | undefined {
  // Valid UTF-8 with letters beyond ASCII is no accident, whatever the document declares.
  const declared = declaredCharset(bytes);
  if (isUtf8(bytes) && !(declared && isAscii(bytes))) {
    const text = new TextDecoder().decode(bytes);
    return STRAY_CONTROL.test(text) && !looksLikeWriting(bytes) ? undefined : text;
  }
  return (
    (declared && decodeWhole(bytes, declared)) ??
    damagedUtf8(bytes) ??
    decodeJapanese(bytes) ??
    (looksLikeWriting(bytes) ? new TextDecoder('windows-1252').decode(bytes) : undefined)
  );
}

/** By its kana: nearly any bytes beyond ASCII are letters of some kind in these character sets. */
function decodeJapanese(bytes: Uint8Array): string | undefined {
  return JAPANESE.map((charset) => decodeWhole(bytes, charset)).find((text) => {
    const words = text?.match(BEYOND_ASCII) ?? [];
    const letters = words.join('');
    const kana = letters.match(KANA) ?? [];
    return (
      kana.length > letters.length * KANA_SHARE_MIN &&
      new Set(kana).size >= Math.min(KANA_KINDS_MIN, letters.length / 4) &&
      (letters.match(RARE_IN_JAPANESE)?.length ?? 0) <= letters.length * RARE_SHARE_MAX &&
      letters.length >= words.length * JAPANESE_WORD_MIN
    );
  });
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
    // A stream: the end may cut a letter in two.
    return new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/**
 * UTF-8 with some damaged letters; undefined for text in another character set. Letters of three bytes are no accident.
 * Those of two may be any bytes beyond ASCII.
 */
function damagedUtf8(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes);
  let [foreign, long, damaged] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) foreign++;
    if (code === 0xfffd) damaged++;
    else if (code >= 0x800) long++;
  }
  if (damaged > foreign * DAMAGED_SHARE_MAX) return undefined;
  return long > foreign / 2 || looksLikeWriting(bytes, damaged <= foreign * RARELY_DAMAGED_SHARE ? 2 : 1)
    ? text
    : undefined;
}

interface Utf16 {
  readonly charset: 'utf-16le' | 'utf-16be';
  readonly isMarked: boolean;
}

/** By its byte order mark; without one, by zeros in every other byte, as in Latin letters. */
function recogniseUtf16(probe: Uint8Array): Utf16 | undefined {
  if (probe[0] === 0xff && probe[1] === 0xfe) return { charset: 'utf-16le', isMarked: true };
  if (probe[0] === 0xfe && probe[1] === 0xff) return { charset: 'utf-16be', isMarked: true };
  const pairs = Math.floor(probe.length / 2);
  let even = 0;
  let odd = 0;
  for (let index = 0; index < pairs; index++) {
    if (probe[2 * index] === 0) even++;
    if (probe[2 * index + 1] === 0) odd++;
  }
  if (pairs < 4) return undefined;
  if (odd > pairs * 0.4 && even < pairs * 0.02) return { charset: 'utf-16le', isMarked: false };
  return even > pairs * 0.4 && odd < pairs * 0.02 ? { charset: 'utf-16be', isMarked: false } : undefined;
}
