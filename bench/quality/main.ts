import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeReport } from '../report/report.ts';
import { startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';
import type { Reliable } from '../rig/reliability.ts';
import { isBeirSet, SCIFACT } from '../sets/beir.ts';
import { judgePages } from './pages.ts';
import { judgePhotographs } from './photographs.ts';
import { judgeText } from './text.ts';

/**
 * Retrieval quality over HTTP, on real sets: `make quality` (those beside the tree, where they are), or `make quality SET=folder` for
 * any folder: of BEIR's shape, of pictures with their captions.json, or of files with their questions.json.
 */

const SHARED = resolve(import.meta.dirname, '../../../shared/data');
const SETS = [SCIFACT, join(SHARED, 'photos'), join(import.meta.dirname, 'pages')];

interface Judged {
  readonly figures: object;
  readonly reliability: readonly Reliable[];
}

/** Judges whatever a folder holds. */
async function judge(serverUrl: string, folder: string): Promise<Judged | undefined> {
  if (existsSync(join(folder, 'captions.json'))) return judgePhotographs(serverUrl, folder);
  if (existsSync(join(folder, 'questions.json'))) return judgePages(serverUrl, folder);
  if (isBeirSet(folder)) return judgeText(serverUrl, folder);
  console.log(
    `not run: ${folder} holds neither corpus.jsonl and queries.jsonl, nor captions.json, nor questions.json`,
  );
  return undefined;
}

const given = process.argv.slice(2).map((path) => resolve(path));
const of = machine();
const server = await startServer();
const judged: Judged[] = [];
try {
  for (const folder of given.length > 0 ? given : SETS) {
    const one = await judge(server.url, folder);
    if (one) judged.push(one);
  }
} finally {
  await server.stop();
}
if (judged.length === 0) process.exit(3);
const sets = judged.map(({ figures }) => figures);
const reliability = judged.flatMap((one) => one.reliability);
const name =
  given.length > 0 ? `quality-${given.map((path) => path.split('/').at(-1)).join('-')}` : 'quality';
const path = writeRecord(name, { sets, reliability }, of);
console.log(`record: ${path}\nreport: ${await writeReport(path)}`);
