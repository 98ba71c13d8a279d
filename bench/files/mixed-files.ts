import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import sharp from 'sharp';

/** What a folder of somebody's may hold: each file another one, and the same ones every time. */

const SAMPLES = resolve(import.meta.dirname, '../../samples');
const PICTURES = ['chelsea.png', 'coffee.png', 'hot_dog.jpg', 'rocket.jpg'];
const SUBJECTS = ['gulls', 'tides', 'lamps', 'bread', 'bees', 'ice', 'fish', 'ships', 'winds', 'stars'];
const VERBS = ['counts', 'watches', 'mends', 'paints', 'follows', 'describes', 'forgets', 'remembers'];
/** Of twenty files: twelve texts, four documents, four pictures. */
const KINDS = [
  ...['txt', 'md', 'html', 'csv'].flatMap((kind) => [kind, kind, kind]),
  ...['pdf', 'pdf', 'pdf', 'pdf'],
  ...['jpg', 'png', 'webp', 'jpg'],
] as const;
const SIDE_PIXELS = 640;

export async function writeMixedFiles(folder: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const kind = KINDS[index % KINDS.length]!;
    const inside = join(folder, `part-${index % 7}`);
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, `file-${index}.${kind}`), await contentOf(kind, index));
  }
}

async function contentOf(kind: string, index: number): Promise<string | Uint8Array> {
  const lines = Array.from({ length: 6 + (index % 9) }, (_, line) => sentence(index, line));
  if (kind === 'txt') return lines.join('\n');
  if (kind === 'md') return `# Report ${index}\n\n${lines.join('\n\n')}\n`;
  if (kind === 'html')
    return `<html><title>Report ${index}</title><body><p>${lines.join('</p><p>')}</p></body></html>`;
  if (kind === 'csv') return `day,what\n${lines.map((line, day) => `${day},"${line}"`).join('\n')}\n`;
  return kind === 'pdf' ? pdf(lines) : picture(kind, index);
}

function sentence(index: number, line: number): string {
  const pick = <T>(values: readonly T[], salt: number) =>
    values[(index * 31 + line * 17 + salt) % values.length]!;
  return `On day ${index * 13 + line} the keeper ${pick(VERBS, 1)} the ${pick(SUBJECTS, 2)} and ${pick(VERBS, 5)} the ${pick(SUBJECTS, 7)} of station ${index}.`;
}

/** Two pages. */
async function pdf(lines: readonly string[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const half of [lines.slice(0, 4), lines.slice(4)]) {
    const page = document.addPage([595, 842]);
    for (const [line, text] of half.entries())
      page.drawText(text, { x: 40, y: 780 - line * 24, size: 9, font });
  }
  return document.save();
}

/** A part of a photograph of its own. */
async function picture(kind: string, index: number): Promise<Uint8Array> {
  const source = sharp(join(SAMPLES, PICTURES[index % PICTURES.length]!));
  const { width, height } = await source.metadata();
  const [left, top] = [(index * 7) % Math.floor(width / 3), (index * 5) % Math.floor(height / 3)];
  const part = source
    .extract({ left, top, width: Math.floor(width / 2), height: Math.floor(height / 2) })
    .resize(SIDE_PIXELS, SIDE_PIXELS, { fit: 'inside' });
  return part.toFormat(kind === 'jpg' ? 'jpeg' : (kind as 'png' | 'webp')).toBuffer();
}
