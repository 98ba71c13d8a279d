import { isAscii, isUtf8 } from 'node:buffer';
import type { Charset } from '@farthing/protocol/document';
import { native } from '../native.ts';
import { irregularity, looksWritten } from './writing.ts';

/** Control characters that text does not contain. Bytes that Windows-1252 leaves undefined decode to them too. */
const FOREIGN_CONTROL = /(?![\t\n\f\r])\p{Cc}/gu;
/** The same without the first one of a terminal's control sequence (ECMA-48, 5.4), as coloured logs have them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it is about
const STRAY_CONTROL = /(?!\x1b[@-_]|[\t\n\v\f\r\u0085])\p{Cc}/u;
/** Ends of lines and parts beside the usual ones: what they part stays apart. Word processors break lines with vertical tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators of ASCII
const SEPARATOR = /[\v\x1c-\x1f\u0085]/g;
/** A terminal's control sequences (ECMA-48, 5.4 and 5.6): colours, places, titles of windows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it is about
const TERMINAL = /\x1b(?:\[[0-?]{0,100}[ -/]{0,10}[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
/** Code points that no text has: unassigned, private, half of a pair, damaged. */
const UNWRITTEN = /[\p{Cn}\p{Co}\p{Cs}\ufffd]/gu;

/** Text has at most this share of control characters. Compressed data has a tenth, a coloured log a hundredth. */
const FOREIGN_SHARE_MAX = 0.02;
/** Bytes from the start by which text and UTF-16 are recognised. */
const PROBE_BYTES = 256 * 1024;
/** Bytes in which a page or an XML document declares its character set. Browsers read on where it comes later than 1 KiB, too. */
const DECLARED_BYTES = 8192;
const DECLARED = [
  /^\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i,
  /<meta\s[^>]{0,300}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i,
];
/** Damaged UTF-8 has at most this share of broken letters among those beyond ASCII. In other character sets nearly all are. */
const DAMAGED_SHARE_MAX = 0.1;
const ESCAPE = 0x1b;
/** The only character set of ASCII's bytes alone: they are letters behind escapes. */
const ISO_2022_JP = 'ISO-2022-JP';
/** Bytes by which guesses are compared. */
const JUDGED_BYTES = 64 * 1024;
/** Guesses for text in the Latin script, which Macs and DOS had their own character sets for. The detector knows neither. */
const LATIN = /^(?:windows-125[0247]|iso-8859-(?:2|10|13|14|15|16))$/;
const OLD_LATIN = ['macintosh', 'ibm850'];
/** Bytes from 0x80 in code page 850: that of DOS in Western Europe. */
const IBM850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

/** Text, and the character set that its bytes were in. */
export interface DecodedText {
  readonly text: string;
  readonly charset: Charset;
}

/** {@link readText} without the character set. */
export function decodeText(bytes: Uint8Array): string | undefined {
  return readText(bytes)?.text;
}

/**
 * Decodes text: UTF-8, UTF-16 (with or without a byte order mark), the character set that an HTML or XML document declares,
 * or the likeliest one. Control characters are dropped; line ends become "\n".
 * @returns undefined when the bytes are no text. A zero byte outside UTF-16 is in no text, and in every binary header.
 */
export function readText(bytes: Uint8Array): DecodedText | undefined {
  const probe = startOf(bytes);
  const decode = decoderOf(bytes, probe);
  const start = decode?.(probe, probe.length === bytes.length);
  if (!decode || !start || !isText(start.text)) return undefined;
  const whole = probe.length === bytes.length ? start : decode(bytes, true);
  return whole && { ...whole, text: withoutControls(withPlainLineEnds(withoutTerminal(whole.text))) };
}

/** The bytes by which text is recognised. They end before a letter of UTF-8 that would be cut in two. */
function startOf(bytes: Uint8Array): Uint8Array {
  let end = Math.min(bytes.length, PROBE_BYTES);
  if (end === bytes.length) return bytes;
  for (let most = 3; most > 0 && (bytes[end]! & 0xc0) === 0x80; most--) end--;
  return bytes.subarray(0, end);
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

/** Without control characters. Those that part lines become line breaks. */
export function withoutControls(text: string): string {
  return text.replace(SEPARATOR, '\n').replace(FOREIGN_CONTROL, '');
}

type Decoder = (bytes: Uint8Array, isWhole: boolean) => DecodedText | undefined;

/** Undefined for bytes that are no text whatever the character set. */
function decoderOf(bytes: Uint8Array, probe: Uint8Array): Decoder | undefined {
  const utf32 = UTF_32.find(({ mark }) => mark.every((byte, at) => probe[at] === byte));
  if (utf32) return (part) => named(writtenText(fromUtf32(part, utf32.isLittle), true), utf32.charset, false);
  const utf16 = recogniseUtf16(probe);
  if (utf16) {
    const { charset, isMarked } = utf16;
    return (part) => named(writtenText(new TextDecoder(charset).decode(part), isMarked), charset, !isMarked);
  }
  if (bytes.includes(0)) return undefined;
  const isMarked = probe[0] === 0xef && probe[1] === 0xbb && probe[2] === 0xbf;
  return isMarked ? (part) => named(damagedUtf8(part), 'utf-8', false) : decodeBytes;
}

function named(text: string | undefined, name: string, guessed: boolean): DecodedText | undefined {
  return text === undefined ? undefined : { text, charset: { name, guessed } };
}

/** The text of UTF-16; undefined for other data that begins with a mark, or has zeros in every other byte. */
function writtenText(text: string, isMarked: boolean): string | undefined {
  if (!isMarked && STRAY_CONTROL.test(text)) return undefined;
  return (text.match(UNWRITTEN)?.length ?? 0) <= text.length * FOREIGN_SHARE_MAX ? text : undefined;
}

function isText(probe: string): boolean {
  const plain = withoutTerminal(probe);
  return (plain.match(FOREIGN_CONTROL)?.length ?? 0) <= plain.length * FOREIGN_SHARE_MAX;
}

function withoutTerminal(text: string): string {
  return text.includes('\x1b') ? text.replace(TERMINAL, '') : text;
}

function decodeBytes(bytes: Uint8Array, isWhole: boolean): DecodedText | undefined {
  // Valid UTF-8 with letters beyond ASCII is no accident, whatever the document declares.
  const declared = declaredCharset(bytes);
  if (isUtf8(bytes) && !(declared && isAscii(bytes))) {
    if (bytes.includes(ESCAPE) && native.guessCharset(bytes, isWhole) === ISO_2022_JP)
      return named(decodeWhole(bytes, ISO_2022_JP), 'iso-2022-jp', true);
    const text = new TextDecoder().decode(bytes);
    return STRAY_CONTROL.test(text) && !looksWritten(text, bytes) ? undefined : named(text, 'utf-8', false);
  }
  return (
    (declared && named(decodeWhole(bytes, declared), declared.toLowerCase(), false)) ||
    (named(damagedUtf8(bytes), 'utf-8', true) ?? guessed(bytes, isWhole))
  );
}

/** In the likeliest character set; undefined for bytes that are no writing in it. */
function guessed(bytes: Uint8Array, isWhole: boolean): DecodedText | undefined {
  const start = bytes.subarray(0, JUDGED_BYTES);
  const { name, text } = likeliest(bytes, start, isWhole);
  if (!looksWritten(text, start)) return undefined;
  return named(start.length === bytes.length ? text : decodeAs(name, bytes), name, true);
}

function likeliest(bytes: Uint8Array, start: Uint8Array, isWhole: boolean): { name: string; text: string } {
  const first = native.guessCharset(bytes, isWhole).toLowerCase();
  const names = LATIN.test(first) ? [first, ...OLD_LATIN] : [first];
  const texts = names.map((name) => decodeAs(name, start));
  const wrong = texts.map(irregularity);
  const best = wrong.indexOf(Math.min(...wrong));
  return { name: names[best]!, text: texts[best]! };
}

/** Decodes short texts that are in one character set, such as names of files: the likeliest of all of them together. */
export function decoderOfNames(names: readonly Uint8Array[]): (name: Uint8Array) => string {
  const all = Buffer.concat(names.flatMap((name) => [name, Buffer.from('\n')])).subarray(0, JUDGED_BYTES);
  const { name: charset } = likeliest(all, all, true);
  return (name) => decodeAs(charset, name);
}

function decodeAs(name: string, bytes: Uint8Array): string {
  return name === 'ibm850' ? ibm850(bytes) : new TextDecoder(name).decode(bytes);
}

function ibm850(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\x80-\xff]/g, (letter) => IBM850[letter.charCodeAt(0) - 0x80]!);
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

/** UTF-8 with some damaged letters; undefined for text in another character set, where nearly all are. */
function damagedUtf8(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes);
  let [foreign, damaged] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) foreign++;
    if (code === 0xfffd) damaged++;
  }
  if (damaged > foreign * DAMAGED_SHARE_MAX) return undefined;
  return looksWritten(text.replaceAll('\ufffd', ''), bytes) ? text : undefined;
}

/** By their byte order marks. That of the first begins with the mark of UTF-16. */
const UTF_32 = [
  { charset: 'utf-32le', mark: [0xff, 0xfe, 0, 0], isLittle: true },
  { charset: 'utf-32be', mark: [0, 0, 0xfe, 0xff], isLittle: false },
] as const;

function fromUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: string[] = [];
  for (let at = 4; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle);
    pieces.push(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
  }
  return pieces.join('');
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
