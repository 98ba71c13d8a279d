import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';

/** A PDF of these objects, the catalogue first, with a correct cross-reference table. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let at = parts[0]!.length;
  const push = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    push(
      Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]),
    );
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

export function pdfStream(content: Buffer, entries = ''): Buffer {
  const data = deflateSync(content);
  return Buffer.concat([
    Buffer.from(`<< /Length ${data.length} /Filter /FlateDecode ${entries} >>\nstream\n`),
    data,
    Buffer.from('\nendstream'),
  ]);
}

/**
 * One of: `pixel-flood.png` (60,000² pixels in a few bytes), `million-pages.pdf` (one page, listed so often), `billion-forms.pdf` and
 * `endless-forms.pdf` (forms that draw ten forms each, 9 and 12 deep), `self-drawing.pdf` (a form that draws itself a thousand times),
 * `masks.svg` (each drawn twice by the next, 24 deep), `scripted.pdf` (with scripts that viewers run when they open it).
 */
export const hostileFile = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'hostile', name));

/** A PDF without pages. */
export function emptyPdf(): Buffer {
  return pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>']);
}

/** A PDF of one page whose content unpacks to `megabytes`: one compressed piece, repeated. */
export function bombPdf(megabytes: number): Buffer {
  const piece = deflateRawSync(Buffer.alloc(2 ** 20, 'q Q\n'), { finishFlush: constants.Z_FULL_FLUSH });
  const data = Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    ...Array.from({ length: megabytes }, () => piece),
    deflateRawSync(Buffer.alloc(0)),
  ]);
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>',
    Buffer.concat([
      Buffer.from(`<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n`),
      data,
      Buffer.from('\nendstream'),
    ]),
  ]);
}

/** A mail of as many parts, each of one letter. */
export function manyParts(count: number): string {
  const head = 'From: a@b.c\r\nTo: d@e.f\r\nDate: Sun, 1 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n';
  const part = '--parts\r\n\r\nx\r\n';
  return `${head}Content-Type: multipart/mixed; boundary=parts\r\n\r\n${part.repeat(count)}--parts--\r\n`;
}
