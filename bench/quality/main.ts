import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { startServer } from '../rig/agent.ts';
import { type Reliable, reliabilityOf } from '../rig/reliability.ts';
import { setFolder } from '../sets/beir.ts';
import { isBeirSet, whereOf } from '../sets/where.js';
import { judgeEveryday } from './everyday.ts';
import { judgeFolders } from './folders.ts';
import { judgePages } from './pages.ts';
import { judgePhotographs } from './photographs.ts';
import { judgeText } from './text.ts';

/**
 * Retrieval quality over HTTP: on the sets of the tree and those beside it, or on the folders that SET names, separated by commas: of
 * BEIR's shape, of pictures with their captions.json, or of files with their questions.json; `bench/quality/everyday` has its own.
 */
const OWN = ['almanac', 'pages', 'everyday', 'folders'].map((name) => join(import.meta.dirname, name));
const SETS = ['jargon', 'scifact', 'photos'].flatMap((name) => whereOf(name) ?? []);

interface Judged {
  readonly figures: object;
  readonly reliability: readonly Reliable[];
}

/** Judges whatever a folder holds. */
async function judge(serverUrl: string, folder: string): Promise<Judged | undefined> {
  if (existsSync(join(folder, 'captions.json'))) return judgePhotographs(serverUrl, folder);
  if (existsSync(join(folder, 'questions.json'))) return judgePages(serverUrl, folder);
  if (basename(folder) === 'everyday') return judgeEveryday(serverUrl, folder);
  if (basename(folder) === 'folders') return judgeFolders(serverUrl, folder);
  if (isBeirSet(folder)) return judgeText(serverUrl, folder);
  console.log(
    `not run: ${folder} holds neither corpus.jsonl and queries.jsonl, nor captions.json, nor questions.json`,
  );
  return undefined;
}

const given = (process.env.SET || '').split(',').filter((name) => name !== '');
const server = await startServer();
const judged: Judged[] = [];
try {
  for (const folder of given.length > 0 ? given.map(setFolder) : [...SETS, ...OWN]) {
    const one = await judge(server.url, folder);
    if (one) judged.push(one);
  }
} finally {
  await server.stop();
}
if (judged.length === 0) process.exit(3);
export const facts = {
  sets: judged.map(({ figures }) => figures),
  ...reliabilityOf(judged.flatMap(({ reliability }) => reliability)),
};
