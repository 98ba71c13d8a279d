import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** A PNG of a few bytes that claims to be `width` × `height` pixels. */
export function pixelFlood(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc(100))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

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

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

/** A PDF whose page draws a form that draws ten forms, and so on: 10^depth operations in a few hundred bytes. */
export function laughingPdf(depth: number): Buffer {
  const first = 5;
  const forms = Array.from({ length: depth }, (_, index) => {
    const isLast = index === depth - 1;
    const content = isLast ? '0 0 m 9 9 l S '.repeat(50) : '/F Do '.repeat(10);
    const resources = isLast ? '' : `/Resources << /XObject << /F ${first + index + 1} 0 R >> >>`;
    return pdfStream(Buffer.from(content), `/Type /XObject /Subtype /Form /BBox [0 0 100 100] ${resources}`);
  });
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /XObject << /F ${first} 0 R >> >> >>`,
    pdfStream(Buffer.from('/F Do')),
    ...forms,
  ]);
}

/** A PDF whose page draws a form that draws itself, `times` over: PDFium ends at its own depth, which takes minutes. */
export function selfDrawingPdf(times = 1_000): Buffer {
  const resources = '/Resources << /XObject << /F 5 0 R >> >>';
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R ${resources} >>`,
    pdfStream(Buffer.from('/F Do')),
    pdfStream(
      Buffer.from('/F Do '.repeat(times)),
      `/Type /XObject /Subtype /Form /BBox [0 0 100 100] ${resources}`,
    ),
  ]);
}

/** An SVG of masks, each drawn twice by the next: 2^depth drawings in three kilobytes. */
export function maskedSvg(depth = 20): Buffer {
  const masks = Array.from({ length: depth }, (_, index) => {
    const inner = index === 0 ? '' : ` mask="url(#m${index - 1})"`;
    return `<mask id="m${index}">${`<rect width="99" height="99" fill="#fff"${inner}/>`.repeat(2)}</mask>`;
  });
  const rect = `<rect width="99" height="99" mask="url(#m${depth - 1})"/>`;
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99">${masks.join('')}${rect}</svg>`,
  );
}

/** A PDF that lists one page a million times. */
export function millionPagesPdf(): Buffer {
  const kids = '5 0 R '.repeat(1000);
  const branch = `<< /Type /Pages /Parent 2 0 R /Kids [${'4 0 R '.repeat(1000)}] /Count 1000 >>`;
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count 1000000 >>`,
    FONT,
    '<< /Type /Page /Parent 5 0 R /MediaBox [0 0 100 100] >>',
    branch,
  ]);
}

/** A PDF of one page with text, and with scripts that viewers run when they open it. */
export function scriptedPdf(text: string): Buffer {
  const script =
    "app.launchURL('http://127.0.0.1:9/'); this.submitForm('http://127.0.0.1:9/'); while (true) {}";
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (${script.replace(/[()\\]/g, '\\$&')}) >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /AA << /O << /S /URI /URI (http://127.0.0.1:9/) >> >> >>',
    pdfStream(Buffer.from(`BT /F1 12 Tf 20 100 Td (${text}) Tj ET`)),
    FONT,
  ]);
}

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
