import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchWorkspace, inParallel } from '../rig/agent.ts';

/** A folder of small files, and what is asked about it: each question with the file that answers, the files that do, or null where none does. */
interface Folder {
  readonly files: Readonly<Record<string, string>>;
  /** Further files of the tree, by their paths: pictures and recordings. */
  readonly samples: readonly string[];
  readonly questions: readonly (readonly [query: string, answer: string | readonly string[] | null])[];
}

interface Answer {
  readonly answered: boolean;
  readonly hits: readonly { readonly item: { readonly name: string }; readonly confidence: number }[];
}

const ROOT = join(import.meta.dirname, '../..');
const CLIENTS = 4;
/** A small index may change its model behind its uploads. */
const SETTLES_MS = 30_000;
/** Every other question is of the half that rules may be chosen by; the others are for the end. HALF shows one alone. */
const HALVES = ['chosen', 'held_out'] as const;

/** A question with what was found first. */
interface Asked {
  readonly query: string;
  readonly isAnswerable: boolean;
  readonly isRight: boolean;
  readonly answered: boolean;
  readonly first: string;
  readonly confidence: number;
}

/** Everyday questions over folders of small mixed files: is the right file first, and is it said where nothing answers? */
export async function judgeFolders(serverUrl: string, folder: string) {
  const sets = [];
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const { files, samples, questions } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Folder;
    const workspace = await BenchWorkspace.rent(serverUrl, 240);
    for (const [name, text] of Object.entries(files))
      await workspace.ingest(name, new TextEncoder().encode(text));
    for (const path of samples)
      await workspace.ingest(basename(path), new Uint8Array(readFileSync(join(ROOT, path))));
    await pause(SETTLES_MS);
    for (const [half, name] of HALVES.entries()) {
      if (process.env.HALF && process.env.HALF !== name) continue;
      const asked: Asked[] = [];
      const own = questions.filter((_, at) => at % 2 === half);
      await inParallel('questions', own, CLIENTS, async ([query, answer]) => {
        asked.push(judged(query, answer, (await workspace.search({ query, k: 5 })) as unknown as Answer));
      });
      const figures = figuresOf(asked);
      sets.push({ folder: file.replace('.json', ''), half: name, ...figures });
      console.log(`folders ${file} ${name}: ${JSON.stringify(figures)}`);
      for (const { query, isAnswerable, isRight, answered, first, confidence } of asked) {
        const is = isRight ? 'right' : isAnswerable ? 'wrong' : 'nowhere';
        if (isRight !== answered || (isAnswerable && !isRight))
          console.log(`  ${is}, ${answered ? '' : 'not '}answered: ${query} → ${first} ${confidence}`);
      }
    }
  }
  return { figures: { set: 'folders', sets }, reliability: [] };
}

function judged(query: string, answer: Folder['questions'][number][1], { answered, hits }: Answer): Asked {
  const first = hits[0]?.item.name ?? '';
  return {
    query,
    isAnswerable: answer !== null,
    isRight: answer !== null && [answer].flat().includes(first),
    answered,
    first,
    confidence: hits[0]?.confidence ?? 0,
  };
}

function figuresOf(asked: readonly Asked[]) {
  const count = (is: (one: Asked) => boolean) => asked.filter(is).length;
  return {
    questions: count(({ isAnswerable }) => isAnswerable),
    first_right: count(({ isRight }) => isRight),
    right_answered: count(({ isRight, answered }) => isRight && answered),
    without_answer: count(({ isAnswerable }) => !isAnswerable),
    told_so: count(({ isAnswerable, answered }) => !isAnswerable && !answered),
    wrong_answered: count(({ isRight, answered }) => !isRight && answered),
  };
}
