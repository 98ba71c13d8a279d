import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import sharp from 'sharp';
import { BenchWorkspace, inParallel, startServer } from './agent.ts';

/**
 * Retrieval quality over HTTP, on real sets: `make quality` (SciFact and photographs beside the tree, where they are),
 * or `make quality SET=folder` for any folder of BEIR's shape (corpus.jsonl, queries.jsonl, qrels.tsv).
 */

const SHARED = resolve(import.meta.dirname, '../../shared/data');
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
  const photographs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(png|jpg|bmp)$/.test(name))
    .sort();
  await inParallel('ingest photographs', photographs, 4, async (name) =>
    workspace.ingest(name, new Uint8Array(readFileSync(join(folder, name)))),
  );
  const inName = (name: string) => basename(name);
  let found = 0;
  const croppable = photographs.filter((name) => !name.endsWith('.bmp'));
  for (const name of croppable) {
    const { hits } = await workspace.search({
      image_b64: (await centreCrop(join(folder, name))).toString('base64'),
      k: 5,
    });
    if (hits[0]?.item.name === inName(name)) found += 1;
    else console.log(`  crop of ${name}: first is ${hits[0]?.item.name}`);
  }
  console.log(
    `photographs  reverse search, 50 % centre crop: R@1 ${(found / croppable.length).toFixed(3)}   (${croppable.length} photographs among ${photographs.length})`,
  );
  const captions = Object.entries(
    JSON.parse(readFileSync(join(folder, 'captions.json'), 'utf8')) as Record<string, string>,
  );
  const ranks: number[] = [];
  for (const [name, caption] of captions) {
    const { hits } = await workspace.search({ query: caption, families: ['visual'], k: 100 });
    ranks.push(hits.findIndex(({ item }) => item.name === inName(name)));
  }
  const within = (cut: number) => ranks.filter((rank) => rank >= 0 && rank < cut).length / ranks.length;
  console.log(
    `photographs  by caption: R@1 ${within(1).toFixed(3)}, R@5 ${within(5).toFixed(3)}   (${captions.length} captions)`,
  );
}

async function centreCrop(path: string): Promise<Buffer> {
  const { width, height } = await sharp(path).metadata();
  const half = (length: number) => Math.round(length / 2);
  return sharp(path)
    .extract({ left: half(width / 2), top: half(height / 2), width: half(width), height: half(height) })
    .png()
    .toBuffer();
}

const sets = process.argv.slice(2).map((path) => resolve(path));
const text = sets.length > 0 ? sets : [join(SHARED, 'text/scifact')];
const photographs = join(SHARED, 'photos');
const server = await startServer({ WORKSPACE_BASE_USD: '0.01' });
try {
  for (const folder of text) {
    if (existsSync(folder)) await judgeText(server.url, folder);
    else console.log(`not run: there is no folder ${folder}`);
  }
  if (sets.length === 0) {
    if (existsSync(photographs)) await judgePhotographs(server.url, photographs);
    else console.log(`not run: there is no folder ${photographs}`);
  }
} finally {
  await server.stop();
}
