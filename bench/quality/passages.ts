import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BenchWorkspace } from '../rig/agent.ts';
import { Reliability, type Reliable } from '../rig/reliability.ts';
import { mean } from '../rig/retrieval.ts';

/** A question, and words of the passage of a file that answers it. */
export interface PassageQuestion {
  readonly query: string;
  readonly file: string;
  readonly has: string;
}

/** Hits of an answer: nDCG@10 is cut there. */
const DEPTH = 10;
const FAMILIES = [['raw'], ['text_semantic'], undefined] as const;

/** Questions about long files with sections and tables: is the hit the passage that answers? Every file of the folder is uploaded. */
export async function judgePassages(
  serverUrl: string,
  set: string,
  folder: string,
  questions: readonly PassageQuestion[],
) {
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  for (const file of readdirSync(folder).sort())
    await workspace.ingest(basename(file), new Uint8Array(readFileSync(join(folder, file))));
  const figures: Record<string, number> = {};
  const beside: Record<string, number> = {};
  const reliability: Reliable[] = [];
  for (const families of FAMILIES) {
    const list = families?.join() ?? 'fused';
    const gains: number[] = [];
    const shown: number[] = [];
    const reliable = new Reliability();
    for (const { query, file, has } of questions) {
      const { hits } = await workspace.search({ query, families, k: DEPTH, passages: 0 });
      const holds = (text = '') => text.replace(/\s+/g, ' ').includes(has);
      const answers = ({ item, text }: (typeof hits)[number]) => item.name === file && holds(text);
      gains.push(gainAt(hits.findIndex(answers)));
      const shows = (hit: (typeof hits)[number]) =>
        answers(hit) || (hit.item.name === file && hit.also?.some(({ snippet }) => holds(snippet)));
      shown.push(gainAt(hits.findIndex(shows)));
      reliable.add(hits, answers);
    }
    figures[list] = Number(mean(gains).toFixed(4));
    beside[list] = Number(mean(shown).toFixed(4));
    reliability.push(reliable.of(set, list));
    console.log(
      `${set}  ${list.padEnd(14)} passage at nDCG@10 ${mean(gains).toFixed(4)}, or among \`also\` ${mean(shown).toFixed(4)}   calibration error ` +
        `${reliability.at(-1)!.ece.toFixed(3)}   (${questions.length} questions)`,
    );
  }
  return {
    figures: { set, questions: questions.length, passage_ndcg_at_10: figures, or_beside_ndcg_at_10: beside },
    reliability,
  };
}

/** Gain of a rank from 0 under nDCG; none for -1. */
const gainAt = (rank: number): number => (rank < 0 ? 0 : 1 / Math.log2(rank + 2));
