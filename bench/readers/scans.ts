/**
 * Character error of scans by kind, of the built-in reader and of Tesseract with English, which read all scans before it: the pages of
 * `test/readers/ocr/pages`, which are drawn, and the straight ones turned. The built-in reader also reads a page as it would be
 * photographed (`photographed.ts`), flat and bent, in several fonts, and real photographs of pages with their texts beside them: those of SHOTS, a folder.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import { testExtractor } from '../../test/rig/readers.ts';
import { usageOf } from '../rig/process-tree.ts';
import { drawnPage, FONTS, isInstalled, PHOTOGRAPHS, photographed } from './photographed.ts';

const PAGES = join(import.meta.dirname, '../../test/readers/ocr/pages');
const TURNED = ['polish.png', 'table.png'];
const TURNS = { sideways: 90, 'upside down': 180 };

const folder = mkdtempSync(join(tmpdir(), 'farthing-scans-'));
const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const ending = { teardown: (end: () => unknown) => void endings.unshift(end) };

interface Scan {
  readonly kind: string;
  readonly path: string;
  readonly truth: string;
}

export let facts = {};
try {
  const scans = [...pagesOf(PAGES), ...(await turned())];
  const photographs = [...(await shots()), ...pagesOf(process.env.SHOTS)];
  const readers = { auto: 'ppocr', eng: 'tesseract_eng' } as const;
  const errors: Record<string, Record<string, number>> = {};
  const seconds: Record<string, number> = {};
  for (const [language, reader] of Object.entries(readers)) {
    const { read } = testExtractor(ending, { languages: [language] });
    // The first page waits for the models.
    await read(scans[0]!.path);
    const before = usageOf(process.pid).cpuSeconds;
    const given = reader === 'ppocr' ? [...scans, ...photographs] : scans;
    for (const { kind, path, truth } of given) {
      // A photograph also has a note of its camera.
      const blocks = (await read(path)).blocks.filter(({ source }) => source === 'ocr');
      const error = characterError(plain(blocks.map(({ text }) => text).join('\n')), plain(truth));
      errors[kind] = { ...errors[kind], [reader]: Number(error.toFixed(4)) };
      console.log(`${reader.padEnd(14)} ${kind.padEnd(48)} ${error.toFixed(3)}`);
    }
    const used = usageOf(process.pid).cpuSeconds - before;
    seconds[reader] = Number((used / given.length).toFixed(2));
  }
  facts = { character_error: errors, cpu_seconds_a_page: seconds };
} finally {
  for (const end of endings) await end();
}

/** Pictures of a folder, each with its text in a file of the same name. */
function pagesOf(folder = ''): Scan[] {
  if (folder === '') return [];
  return readdirSync(folder)
    .filter((name) => !name.endsWith('.txt'))
    .map((name) => ({
      kind: name.replace(/\.\w+$/, ''),
      path: resolve(folder, name),
      truth: truthOf(name, folder),
    }));
}

async function shots(): Promise<Scan[]> {
  const missing = FONTS.filter((font) => !isInstalled(font));
  for (const font of missing) console.log(`${font} is not installed`);
  const scans: Scan[] = [];
  for (const { name, page, fonts, shots } of PHOTOGRAPHS)
    for (const font of fonts.filter((one) => !missing.includes(one))) {
      const drawn = await drawnPage(page, font);
      for (const shot of shots) {
        const kind = `${name}, ${shot.kind}, ${font}`;
        const path = join(folder, `${kind}.jpg`);
        writeFileSync(path, await photographed(drawn, shot));
        scans.push({ kind, path, truth: page.text });
      }
    }
  return scans;
}

function turned(): Promise<Scan[]> {
  const wanted = TURNED.flatMap((name) =>
    Object.entries(TURNS).map(async ([turn, degrees]) => {
      const kind = `${name.replace(/\.\w+$/, '')} ${turn}`;
      const path = join(folder, `${kind}.png`);
      writeFileSync(path, await sharp(join(PAGES, name)).rotate(degrees).png().toBuffer());
      return { kind, path, truth: truthOf(name) };
    }),
  );
  return Promise.all(wanted);
}

function truthOf(name: string, folder = PAGES): string {
  return readFileSync(join(folder, name.replace(/\.\w+$/, '.txt')), 'utf8');
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim();
}

/** Share of the characters that are wrong: the edits that make one text of the other (Levenshtein, 1965), at most 1. */
function characterError(read: string, truth: string): number {
  let row = Array.from({ length: truth.length + 1 }, (_, at) => at);
  for (const [above, letter] of [...read].entries()) {
    const next = [above + 1];
    for (let at = 1; at <= truth.length; at++)
      next.push(Math.min(row[at]! + 1, next[at - 1]! + 1, row[at - 1]! + (letter === truth[at - 1] ? 0 : 1)));
    row = next;
  }
  return Math.min(1, row[truth.length]! / truth.length);
}
