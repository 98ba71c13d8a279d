import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { BenchWorkspace, inParallel, startServer } from './agent.ts';
import { CHANGES, type Photograph, readPhotographs } from './calibration/photographs.ts';

/**
 * Retrieval quality over HTTP, on real sets: `make quality` (SciFact and photographs beside the tree, where they are),
 * or `make quality SET=folder` for any folder of BEIR's shape (corpus.jsonl, queries.jsonl, qrels.tsv) or of pictures in
 * sub-folders with their captions.json.
 */

const SETS = ['text/scifact', 'photos'].map((name) =>
  resolve(import.meta.dirname, '../../shared/data', name),
);
const RANK_CUT = 10;
const CLIENTS = 8;

const lines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const json = <T>(path: string) => lines(path).map((line) => JSON.parse(line) as T);

function readJudgements(path: string): Map<string, Map<string, number>> {
  const judgements = new Map<string, Map<string, number>>();
  for (const line of lines(path).slice(1)) {
    const [query, document, grade] = line.split('\t') as [string, string, string];
    if (!judgements.has(query)) judgements.set(query, new Map());
    judgements.get(query)!.set(document, Number(grade));
  }
  return judgements;
}

/** Linear gain, logarithmic discount, as BEIR's trec_eval computes it. */
function ndcg(ranked: readonly string[], grades: ReadonlyMap<string, number>): number {
  const gain = (values: readonly number[]) =>
    values.reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0);
  const best = gain([...grades.values()].sort((a, b) => b - a).slice(0, RANK_CUT));
  return best === 0 ? 0 : gain(ranked.slice(0, RANK_CUT).map((document) => grades.get(document) ?? 0)) / best;
}

async function judgeText(serverUrl: string, folder: string): Promise<void> {
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  const corpus = json<{ _id: string; title?: string; text: string }>(join(folder, 'corpus.jsonl'));
  await inParallel(`ingest ${basename(folder)}`, corpus, CLIENTS, ({ _id, title, text }) =>
    workspace.ingest(`${_id}.md`, new TextEncoder().encode(title ? `# ${title}\n\n${text}\n` : text)),
  );
  const judgements = readJudgements(join(folder, 'qrels.tsv'));
  const queries = json<{ _id: string; text: string }>(join(folder, 'queries.jsonl')).filter(({ _id }) =>
    judgements.has(_id),
  );
  for (const families of [['raw'], ['text_semantic'], undefined]) {
    const gains: number[] = [];
    await inParallel(`search ${families ?? 'fused'}`, queries, CLIENTS, async ({ _id, text }) => {
      const { hits } = await workspace.search({ query: text, families, k: 100 });
      const ranked = [...new Set(hits.map(({ item }) => item.name.replace(/\.md$/, '')))];
      gains.push(ndcg(ranked, judgements.get(_id)!));
    });
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    console.log(
      `${basename(folder)}  ${(families?.join() ?? 'fused').padEnd(14)} nDCG@${RANK_CUT} ${mean.toFixed(3)}   (${gains.length} queries, ${corpus.length} documents)`,
    );
  }
}

async function judgePhotographs(serverUrl: string, folder: string): Promise<void> {
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  const photographs = await readPhotographs(folder);
  await inParallel('ingest photographs', photographs, 4, async ({ name }) =>
    workspace.ingest(name, new Uint8Array(readFileSync(join(folder, name)))),
  );
  for (const [change, apply] of Object.entries(CHANGES)) {
    const missed: string[] = [];
    for (const photograph of photographs) {
      const image = await (await apply(sourceOf(photograph), photograph)).png().toBuffer();
      const { hits } = await workspace.search({ image_b64: image.toString('base64'), k: 5 });
      if (hits[0]?.item.name !== basename(photograph.name))
        missed.push(`${photograph.name} → ${hits[0]?.item.name}`);
    }
    const share = 1 - missed.length / photographs.length;
    console.log(
      `photographs  by picture, ${change.padEnd(15)} R@1 ${share.toFixed(3)}   ${missed.join(', ')}`,
    );
  }
  const captioned = photographs.filter(({ caption }) => caption !== undefined);
  const ranks: number[] = [];
  for (const { name, caption } of captioned) {
    const { hits } = await workspace.search({ query: caption, families: ['visual'], k: 100 });
    ranks.push(hits.findIndex(({ item }) => item.name === basename(name)));
  }
  const within = (cut: number) => ranks.filter((rank) => rank >= 0 && rank < cut).length / ranks.length;
  console.log(
    `photographs  by caption: R@1 ${within(1).toFixed(3)}, R@5 ${within(5).toFixed(3)}   (${captioned.length} captions)`,
  );
}

function sourceOf({ rgb, width, height }: Photograph): Sharp {
  return sharp(rgb, { raw: { width, height, channels: 3 } });
}

/** Judges whatever a folder holds: photographs with captions, or a set of BEIR's shape. */
async function judge(serverUrl: string, folder: string): Promise<void> {
  if (existsSync(join(folder, 'captions.json'))) await judgePhotographs(serverUrl, folder);
  else if (existsSync(join(folder, 'corpus.jsonl'))) await judgeText(serverUrl, folder);
  else console.log(`not run: ${folder} holds neither captions.json nor corpus.jsonl`);
}

const given = process.argv.slice(2).map((path) => resolve(path));
const server = await startServer();
try {
  for (const folder of given.length > 0 ? given : SETS) await judge(server.url, folder);
} finally {
  await server.stop();
}
