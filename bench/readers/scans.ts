/**
 * Character error of scans by kind, of the built-in reader and of Tesseract with English, which read all scans before it: the pages of
 * `test/extract/ocr/pages`, which are drawn, and the straight ones turned.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { testExtractor } from '../../test/rig/readers.ts';
import { mean } from '../rig/retrieval.ts';

const PAGES = join(import.meta.dirname, '../../test/extract/ocr/pages');
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
  const scans = [...pages(), ...(await turned())];
  const readers = { auto: 'ppocr', eng: 'tesseract_eng' } as const;
  const errors: Record<string, Record<string, number>> = {};
  const seconds: Record<string, number> = {};
  for (const [language, reader] of Object.entries(readers)) {
    const { read } = testExtractor(ending, { languages: [language] });
    // The first page waits for the models.
    await read(scans[0]!.path);
    const times: number[] = [];
    for (const { kind, path, truth } of scans) {
      const started = performance.now();
      const { blocks } = await read(path);
      times.push((performance.now() - started) / 1000);
      const error = characterError(plain(blocks.map(({ text }) => text).join('\n')), plain(truth));
      errors[kind] = { ...errors[kind], [reader]: Number(error.toFixed(4)) };
      console.log(`${reader.padEnd(14)} ${kind.padEnd(24)} ${error.toFixed(3)}`);
    }
    seconds[reader] = Number(mean(times).toFixed(2));
  }
  facts = { character_error: errors, seconds_a_page: seconds };
} finally {
  for (const end of endings) await end();
}

function pages(): Scan[] {
  return readdirSync(PAGES)
    .filter((name) => !name.endsWith('.txt'))
    .map((name) => ({ kind: name.replace(/\.\w+$/, ''), path: join(PAGES, name), truth: truthOf(name) }));
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

function truthOf(name: string): string {
  return readFileSync(join(PAGES, name.replace(/\.\w+$/, '.txt')), 'utf8');
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
