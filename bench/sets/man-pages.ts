import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Longer pages take longer to encode and say nothing more about the method. */
const CHARACTERS_MAX = 4000;
const CHARACTERS_MIN = 400;
const QUERY_WORDS_MIN = 3;
const PAGES_MAX = 400;

/**
 * Makes a set of BEIR's shape out of manual pages, for languages that have no other set at hand. A query is what a page's NAME section
 * says that the program does; the answer is that page, without that section (known-item search). @returns the number of pages
 * @param askedFrom folders of the same pages in another language, which the queries are taken from
 */
export function makeManPagesSet(
  from: readonly string[],
  to: string,
  askedFrom: readonly string[] = [],
): number {
  const asked = new Map(askedFrom.flatMap((folder) => pathsIn(folder)).map((path) => [basename(path), path]));
  const [corpus, queries, judgements]: [object[], object[], string[]] = [[], [], []];
  for (const path of from.flatMap((folder) => pathsIn(folder))) {
    if (corpus.length >= PAGES_MAX) break;
    const page = pageAt(path);
    const other = askedFrom.length === 0 ? path : asked.get(basename(path));
    const query = other === path ? page?.query : other && pageAt(other)?.query;
    if (!page || !query || wordCount(query) < QUERY_WORDS_MIN || page.text.length < CHARACTERS_MIN) continue;
    const id = String(corpus.length + 1);
    corpus.push({ _id: id, title: '', text: page.text.slice(0, CHARACTERS_MAX) });
    queries.push({ _id: id, text: query });
    judgements.push(`${id}\t${id}\t1`);
  }
  mkdirSync(to, { recursive: true });
  const jsonl = (rows: readonly object[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
  writeFileSync(join(to, 'corpus.jsonl'), jsonl(corpus));
  writeFileSync(join(to, 'queries.jsonl'), jsonl(queries));
  writeFileSync(join(to, 'qrels.tsv'), `query-id\tcorpus-id\tscore\n${judgements.join('\n')}\n`);
  return corpus.length;
}

function pageAt(path: string) {
  const bytes = readFileSync(path);
  return partsOf((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'));
}

const pathsIn = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));

const WRITTEN_WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const SEGMENTER = new Intl.Segmenter('ja', { granularity: 'word' });

function wordCount(text: string): number {
  if (!WRITTEN_WITHOUT_SPACES.test(text)) return text.split(/\s+/).length;
  return [...SEGMENTER.segment(text)].filter(({ isWordLike }) => isWordLike).length;
}

/** The first section is the page's name, whatever its language. */
function partsOf(source: string): { query: string; text: string } | undefined {
  const sections = source.split(/^\.S[Hh]\s+.*$/m);
  if (sections.length < 3) return undefined;
  const described = /\s(?:-|–|—)\s+([\s\S]+)$/.exec(plain(sections[1]!));
  return described ? { query: described[1]!.trim(), text: plain(sections.slice(2).join('\n')) } : undefined;
}

/** Without macros, fonts and escapes of troff. */
function plain(source: string): string {
  return source
    .replace(/^[.']\\".*$/gm, '')
    .replace(
      /^\.(?:TH|PP|TP|IP|RS|RE|P|sp|br|nf|fi|ad|nh|ie|el|if|in|ds|de|so|PD|HP|LP|UE|ME|EX|EE)\b.*$/gm,
      '',
    )
    .replace(/^\.[A-Za-z]+\s*/gm, '')
    .replace(/\\f(?:[A-Z]|\([A-Z]{2}|\[\w*\])/g, '')
    .replace(/\\\(em|\\\(en/g, '—')
    .replace(/\\\((?:[a-z]q|.q)/g, '"')
    .replace(/\\[&/,|^:%c]/g, '')
    .replace(/\\-/g, '-')
    .replace(/\\(.)/g, '$1')
    .replace(/[ \t]*\n[ \t]*/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}
