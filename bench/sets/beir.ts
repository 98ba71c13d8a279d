import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { whereOf } from './where.js';

/** A set of BEIR's shape (Thakur et al. 2021, arXiv:2104.08663): documents, queries, and which belong together how well. */
export interface BeirSet {
  readonly name: string;
  readonly documents: readonly BeirDocument[];
  /** Those that somebody judged. */
  readonly queries: readonly { readonly id: string; readonly text: string }[];
  /** Grades by query and document. */
  readonly judgements: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export interface BeirDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The folder of the set that SET names: `jargon`, which is in the tree, when it names none. @throws when it is absent */
export function setFolder(name = process.env.SET || 'jargon'): string {
  const folder = whereOf(name);
  if (folder === undefined)
    throw new Error(`there is no set "${name}": make bench-data lists where it may come from`);
  return folder;
}

export const benchSet = (): Promise<BeirSet> => readBeirSet(setFolder());

/**
 * Reads `corpus.jsonl`, `queries.jsonl` and the judgements: `qrels.tsv`, or in `qrels/` the split `test`, else `dev`, else the
 * first. Both forms of judgements are read: BEIR's three columns with a heading, and TREC's four.
 * @throws Error with the line, and what is missing or wrong in it
 */
export async function readBeirSet(folder: string): Promise<BeirSet> {
  const judgements = await readJudgements(judgementsIn(folder));
  const documents = await readLines(join(folder, 'corpus.jsonl'), ['_id', 'text']);
  const queries = await readLines(join(folder, 'queries.jsonl'), ['_id', 'text']);
  const judged = queries.filter(({ _id }) => judgements.has(String(_id)));
  if (judged.length === 0) throw new Error(`${folder}: none of the queries is judged`);
  return {
    name: basename(resolve(folder)),
    documents: documents.map(({ _id, title, text }) => ({
      id: String(_id),
      title: String(title ?? ''),
      text: String(text),
    })),
    queries: judged.map(({ _id, text }) => ({ id: String(_id), text: String(text) })),
    judgements,
  };
}

async function readLines(
  path: string,
  members: readonly string[],
): Promise<Record<string, string | number | undefined>[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = `${path}, line ${index + 1}`;
    const value = parsed(line, place);
    for (const member of members)
      if (!['string', 'number'].includes(typeof value[member])) throw new Error(`${place}: no ${member}`);
    return [value];
  });
}

function parsed(line: string, place: string): Record<string, string | number | undefined> {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`${place}: not JSON`);
  }
}

function judgementsIn(folder: string): string {
  const one = join(folder, 'qrels.tsv');
  if (existsSync(one)) return one;
  const splits = existsSync(join(folder, 'qrels'))
    ? readdirSync(join(folder, 'qrels')).filter((name) => name.endsWith('.tsv'))
    : [];
  const split = ['test.tsv', 'dev.tsv'].find((name) => splits.includes(name)) ?? splits.sort()[0];
  if (split === undefined) throw new Error(`${folder}: neither qrels.tsv nor qrels/*.tsv`);
  return join(folder, 'qrels', split);
}

async function readJudgements(path: string): Promise<Map<string, Map<string, number>>> {
  const judgements = new Map<string, Map<string, number>>();
  const lines = (await readFile(path, 'utf8')).split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const columns = line.trim().split(/\t|\s+/);
    const [query, document, score] = columns.length === 4 ? [columns[0], columns[2], columns[3]] : columns;
    const grade = Number(score);
    if (query === undefined || document === undefined || !Number.isFinite(grade)) {
      if (index === 0) continue;
      throw new Error(`${path}, line ${index + 1}: not query, document and grade`);
    }
    if (!judgements.has(query)) judgements.set(query, new Map());
    judgements.get(query)!.set(document, grade);
  }
  return judgements;
}

/** A smaller set: the judged documents first, then the others in their order. */
export function firstDocuments(set: BeirSet, count: number): BeirDocument[] {
  const judged = new Set([...set.judgements.values()].flatMap((grades) => [...grades.keys()]));
  const isJudged = ({ id }: BeirDocument) => judged.has(id);
  return [...set.documents.filter(isJudged), ...set.documents.filter((one) => !isJudged(one))].slice(
    0,
    count,
  );
}

/** As a Markdown file. */
export const markdownOf = ({ title, text }: BeirDocument): string =>
  title === '' ? text : `# ${title}\n\n${text}\n`;
