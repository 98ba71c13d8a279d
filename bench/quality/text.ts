import { BenchWorkspace, inParallel } from '../rig/agent.ts';
import { Reliability, type Reliable } from '../rig/reliability.ts';
import { mean, ndcg, recall } from '../rig/retrieval.ts';
import { markdownOf, readBeirSet } from '../sets/beir.ts';
import { besidePlainBm25 } from './plain-words.ts';

const CLIENTS = 8;
const DEPTH = 100;
/** Hits whose confidence an agent looks at. */
const LOOKED_AT = 10;
/** `PLAIN=0` leaves the plain BM25 out, for which a program is compiled. */
const BESIDE_PLAIN = process.env.PLAIN !== '0';
const FAMILIES = [['raw'], ['text_semantic'], undefined] as const;

/** A set of BEIR's shape: each family by itself, then both; and words beside a plain BM25. */
export async function judgeText(serverUrl: string, folder: string) {
  const { name, documents, queries, judgements } = await readBeirSet(folder);
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  await inParallel(`ingest ${name}`, documents, CLIENTS, (document) =>
    workspace.ingest(`${encodeURIComponent(document.id)}.md`, new TextEncoder().encode(markdownOf(document))),
  );
  const figures: Record<string, { ndcg_at_10: number; recall_at_100: number }> = {};
  const reliability: Reliable[] = [];
  for (const families of FAMILIES) {
    const list = families?.join() ?? 'fused';
    const [gains, recalls, reliable] = [[] as number[], [] as number[], new Reliability()];
    await inParallel(`search ${list}`, queries, CLIENTS, async ({ id, text }) => {
      const { hits } = await workspace.search({ query: text, families, k: DEPTH });
      const documentOf = (hit: (typeof hits)[number]) =>
        decodeURIComponent(hit.item.name.replace(/\.md$/, ''));
      const ranked = [...new Set(hits.map(documentOf))];
      const grades = judgements.get(id)!;
      gains.push(ndcg(ranked, grades));
      recalls.push(recall(ranked, grades));
      reliable.add(hits.slice(0, LOOKED_AT), (hit) => (grades.get(documentOf(hit)) ?? 0) > 0);
    });
    figures[list] = { ndcg_at_10: rounded(mean(gains)), recall_at_100: rounded(mean(recalls)) };
    reliability.push(reliable.of(name, list));
    console.log(
      `${name}  ${list.padEnd(14)} nDCG@10 ${mean(gains).toFixed(4)}   recall@100 ${mean(recalls).toFixed(4)}   ` +
        `calibration error ${reliability.at(-1)!.ece.toFixed(3)}   (${queries.length} queries, ${documents.length} documents)`,
    );
  }
  const best = Math.max(figures.raw!.ndcg_at_10, figures.text_semantic!.ndcg_at_10);
  const fusedWins = figures.fused!.ndcg_at_10 >= best;
  console.log(
    `${name}  fused ${fusedWins ? '≥' : '<'} the best family (${(figures.fused!.ndcg_at_10 - best).toFixed(4)})`,
  );
  const plain = BESIDE_PLAIN ? await besidePlainBm25(folder, documents) : undefined;
  if (plain)
    console.log(
      `${name}  words of whole documents nDCG@10 ${plain.words}, plain BM25 with the stems of ${plain.language} ${plain.plain_bm25}`,
    );
  return {
    figures: { set: name, documents: documents.length, queries: queries.length, ...figures, plain },
    reliability,
  };
}

const rounded = (value: number) => Number(value.toFixed(4));
