import { deflateRawSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { tarHeader, tarOf, zipOf } from '../readers/samples/archives.ts';
import { pdfOf, pdfStream } from '../readers/samples/hostile.ts';
import type { Target } from './requests.ts';

/** A zip of some kilobytes that unfolds to so many gigabytes, ten files of the same bytes. */
export function zipBomb(gigabytes: number): Buffer {
  const zeros = Buffer.alloc(2 ** 26);
  const files = Object.fromEntries(
    Array.from({ length: gigabytes * 16 }, (_, index) => [`zeros-${index}.txt`, zeros] as const),
  );
  return shared(files, zeros);
}

/** Members that share one packed stream: as a zip bomb without recursion has them (D. Fifield, WOOT 2019). */
function shared(files: Readonly<Record<string, Buffer>>, content: Buffer): Buffer {
  const packed = deflateRawSync(content, { level: 9 });
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(20, 4);
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(packed.length, 18);
  local.writeUInt32LE(content.length, 22);
  const names = Object.keys(files);
  const central = names.map((name) => {
    const entry = Buffer.alloc(46 + Buffer.byteLength(name));
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    entry.writeUInt16LE(20, 6);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.write(name, 46);
    return entry;
  });
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 8);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, directory, end]);
}

/** Archives in archives, so many levels, and a text in the innermost. */
export function nestedZip(levels: number): Buffer {
  let bytes = zipOf({ 'innermost.txt': 'At the bottom.' });
  for (let level = 1; level < levels; level++) bytes = zipOf({ [`level-${level}.zip`]: bytes });
  return bytes;
}

/** One member whose claimed size is five gigabytes (sizes of 32 bits can't say so; zip64 can). */
export function fiveGigabyteZip(): Buffer {
  const bytes = zipOf({ 'huge.txt': 'x' });
  bytes.writeUInt32LE(0xfffffffe, bytes.indexOf('PK\x01\x02') + 24);
  return bytes;
}

export function manyFiles(count: number): Buffer {
  return zipOf(
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.txt`, `Small file ${at}.`])),
  );
}

/** Links in a tar, and files that would be written through them. */
export function linkedTar(canary: string): Buffer {
  return Buffer.concat([
    tarHeader('escape', 0, '2', '/tmp'),
    tarHeader('secret.txt', 0, '1', canary),
    tarOf({ 'escape/written-through-a-link.txt': 'through a link', '/etc/absolute.txt': 'absolute' }),
  ]);
}

/** A page whose stream has no end and refers to itself for its length. */
export function endlessPdf(): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents [4 0 R 4 0 R 5 0 R] >>',
    Buffer.concat([Buffer.from('<< /Length 4 0 R >>\nstream\n'), Buffer.alloc(100_000, 'q 0 0 m ')]),
    pdfStream(Buffer.alloc(50_000, '/X Do ')),
  ]);
}

export function docxOf(document: string, parts: Record<string, string> = {}): Buffer {
  const all = { 'word/document.xml': document, ...parts };
  return Buffer.from(
    zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)]))),
  );
}

export function entityBomb(): string {
  const entities = Array.from(
    { length: 10 },
    (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`,
  ).join('');
  return `<?xml version="1.0"?><!DOCTYPE w [<!ENTITY e0 "lol">${entities}]><w><p>before &e10; after</p></w>`;
}

export function externalEntity({ canary, trapPort }: Target): string {
  return `<?xml version="1.0"?><!DOCTYPE w [<!ENTITY file SYSTEM "file://${canary}"><!ENTITY net SYSTEM "http://127.0.0.1:${trapPort}/entity"><!ENTITY % dtd SYSTEM "http://127.0.0.1:${trapPort}/dtd"> %dtd;]><w><p>file: &file; net: &net;</p></w>`;
}

/** An SVG that asks for pictures, styles, fonts, scripts and other drawings from files and addresses. */
export function linkingSvg({ canary, trapPort }: Target): string {
  const there = `http://127.0.0.1:${trapPort}`;
  return `<?xml version="1.0"?><?xml-stylesheet href="${there}/style.css"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200">
<style>@import url(${there}/import.css); @font-face { font-family: f; src: url(${there}/font.woff) }</style>
<script xlink:href="${there}/script.js"/><script>fetch('${there}/fetch')</script>
<rect width="150" height="150" fill="#27c"/>
<image xlink:href="${there}/picture.png" width="50" height="50"/><image href="file://${canary}" width="50" height="50"/>
<use xlink:href="${there}/other.svg#x"/><use href="file:///etc/passwd#x"/><foreignObject width="9" height="9"><iframe src="${there}/frame"/></foreignObject>
<text x="5" y="190">still a drawing</text></svg>`;
}

export function linkingHtml({ canary, trapPort }: Target): string {
  const there = `http://127.0.0.1:${trapPort}`;
  return `<!doctype html><title>Links</title><link rel="stylesheet" href="${there}/style.css"><base href="${there}/"><body><img src="${there}/picture.png"><iframe src="file://${canary}"></iframe><script src="${there}/script.js"></script><object data="${there}/object"></object><p>Only words.</p>`;
}

export function hlsPlaylist({ canary, trapPort }: Target): string {
  return `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nconcat:http://127.0.0.1:${trapPort}/header.m3u8|file://${canary}\n#EXTINF:10.0,\nhttp://127.0.0.1:${trapPort}/segment.ts\n#EXTINF:10.0,\nfile://${canary}\n#EXT-X-ENDLIST\n`;
}

export function concatPlaylist({ canary, trapPort }: Target): string {
  return `ffconcat version 1.0\nfile '${canary}'\nfile 'http://127.0.0.1:${trapPort}/concat.mp4'\nfile 'subfile,,start,0,end,100,,:${canary}'\n`;
}

/** An MP4 whose samples are said to lie in another file: what a data reference is for. */
export function referringMp4({ canary }: Target): Buffer {
  const box = (type: string, ...parts: Buffer[]): Buffer => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length + 8, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, body]);
  };
  const reference = box('url ', Buffer.from([0, 0, 0, 0]), Buffer.from(`file://${canary}\0`));
  const drefs = box('dref', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), reference);
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\0\0isommp41')),
    box('moov', box('trak', box('mdia', box('minf', box('dinf', drefs))))),
  ]);
}

/** Animated GIF first, archive behind: both readers would find their own. */
export function polyglot(front: Uint8Array): Buffer {
  return Buffer.concat([front, zipOf({ 'hidden.txt': 'Words behind another file.' })]);
}
