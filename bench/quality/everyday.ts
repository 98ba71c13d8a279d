import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchWorkspace, inParallel } from '../rig/agent.ts';

/** Notes of a household in one language, and what is asked of them. */
interface Household {
  readonly notes: Readonly<Record<string, string>>;
  readonly slots: Readonly<Record<string, readonly string[]>>;
  /** With a slot each, in braces. */
  readonly templates: readonly string[];
  /** Without slips: none is to be corrected. */
  readonly questions: readonly string[];
  /** With a slip each, and the word that is meant. */
  readonly typos: readonly (readonly [query: string, meant: string])[];
  readonly names?: {
    /** Of somebody who is nowhere: nothing answers. */
    readonly unknown: readonly string[];
    /** With the note that answers. */
    readonly known: readonly (readonly [query: string, note: string])[];
  };
}

interface Answer {
  readonly answered: boolean;
  readonly corrected?: string;
  readonly hits: readonly { readonly item: { readonly name: string }; readonly confidence: number }[];
}

const CLIENTS = 4;
/** Every other question is of the half that rules may be chosen by; the others are for the end. */
const HALVES = ['chosen', 'held_out'] as const;

/** Everyday questions over small folders of notes: are words changed that are no slips, and are people answered for who are nowhere? */
export async function judgeEveryday(serverUrl: string, folder: string) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const sets = [];
  for (const file of files.sort()) {
    const household = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Household;
    const workspace = await BenchWorkspace.rent(serverUrl, 240);
    for (const [name, text] of Object.entries(household.notes))
      await workspace.ingest(name, new TextEncoder().encode(`${text}\n`));
    for (const [half, name] of HALVES.entries()) {
      const figures = await judgeHalf(workspace, household, half);
      const language = file.replace('.json', '');
      sets.push({ language, half: name, ...figures });
      console.log(`everyday ${language} ${name}: ${JSON.stringify(figures)}`);
    }
  }
  return { figures: { set: 'everyday', sets }, reliability: [] };
}

async function judgeHalf(workspace: BenchWorkspace, household: Household, half: number) {
  const ofHalf = <T>(all: readonly T[]) => all.filter((_, at) => at % 2 === half);
  const ask = async (query: string, families?: readonly string[]) =>
    (await workspace.search({ query, families, k: 5 })) as unknown as Answer;
  const changed: string[] = [];
  const questions = ofHalf([...household.questions, ...filled(household)]);
  await inParallel('questions', questions, CLIENTS, async (query) => {
    const { corrected } = await ask(query, ['raw']);
    if (corrected !== undefined) changed.push(`${query} → ${corrected}`);
  });
  const typos = ofHalf(household.typos);
  const missed: string[] = [];
  for (const [query, meant] of typos) {
    const { hits, corrected } = await ask(query, ['raw']);
    // Some slips leave the stem as it is: nothing has to be corrected.
    const isMended = corrected?.toLowerCase().includes(meant.toLowerCase()) ?? true;
    const isFound = household.notes[hits[0]?.item.name ?? '']?.includes(meant) ?? false;
    if (!isMended || !isFound) missed.push(`${query} → ${corrected}, ${hits[0]?.item.name}`);
  }
  const { unknown = [], known = [] } = household.names ?? {};
  const wrongly: string[] = [];
  for (const query of ofHalf(unknown)) {
    const { answered, hits } = await ask(query);
    if (answered) wrongly.push(`${query} → ${hits[0]!.item.name} ${hits[0]!.confidence}`);
  }
  const lost: string[] = [];
  for (const [query, note] of ofHalf(known)) {
    const { answered, hits } = await ask(query);
    if (!answered || hits[0]!.item.name !== note)
      lost.push(`${query} → ${hits[0]?.item.name} ${hits[0]?.confidence}`);
  }
  for (const line of [...changed, ...missed, ...wrongly, ...lost]) console.log(`  ${line}`);
  return {
    questions: questions.length,
    changed: changed.length,
    typos: typos.length,
    mended: typos.length - missed.length,
    unknown_names: ofHalf(unknown).length,
    answered: wrongly.length,
    known_names: ofHalf(known).length,
    found: ofHalf(known).length - lost.length,
  };
}

function filled({ slots, templates }: Household): string[] {
  return templates.flatMap((template) => {
    const [marked, name] = /\{(\w+)\}/.exec(template) as unknown as [string, string];
    return slots[name]!.map((words) => template.replace(marked, words));
  });
}
