import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { rowsIn } from '../../bench/rig/csv.ts';
import type { Row } from '../../bench/rig/record.ts';
import { mean, ndcg, recall } from '../../bench/rig/retrieval.ts';
import { readBeirSet } from '../../bench/sets/beir.ts';
import { deep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { CACHE_DIR } from '../rig/test-server.ts';

const root = resolve(import.meta.dirname, '../..');
const jsonl = (rows: readonly object[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
const PICTURES = ['chelsea.png', 'hot_dog.jpg'] as const;
const files = {
  'corpus.jsonl': jsonl([
    { _id: 'a/1', title: 'Gulls', text: 'The lighthouse keeper counts gulls at dawn.' },
    { _id: 'b', text: 'Salt marshes protect the coast from storms.' },
    { _id: 'c', title: '', text: 'Nets are mended in winter, when the boats lie ashore.' },
  ]),
  'queries.jsonl': jsonl([
    { _id: 'q1', text: 'who counts birds in the morning?' },
    { _id: 'q2', text: 'what shelters the shore?' },
    { _id: 'unjudged', text: 'nothing' },
  ]),
  qrels: {
    'train.tsv': 'query-id\tcorpus-id\tscore\nq2\tc\t1\n',
    'test.tsv': 'query-id\tcorpus-id\tscore\nq1\ta/1\t2\nq2\tb\t1\nq2\tc\t0\n',
  },
};

t.test('a set of BEIR’s shape is read with the split that is judged', async (t) => {
  const folder = t.testdir(files);
  const set = await readBeirSet(folder);
  t.equal(set.documents.length, 3);
  t.same(
    set.queries.map(({ id }) => id),
    ['q1', 'q2'],
    'queries that nobody judged are left out',
  );
  t.equal(set.judgements.get('q2')!.get('b'), 1);
});

t.test('a file that is no such set is refused with its line', async (t) => {
  const broken = (change: object) => readBeirSet(t.testdir({ ...files, ...change }));
  await t.rejects(
    broken({ 'corpus.jsonl': '{"_id":"a","text":"x"}\n{"_id":' }),
    /corpus\.jsonl, line 2: not JSON/,
  );
  await t.rejects(broken({ 'queries.jsonl': '{"_id":"q1"}\n' }), /queries\.jsonl, line 1: no text/);
  await t.rejects(
    broken({ qrels: { 'test.tsv': 'a\tb\tc\nq1\ta\tx\n' } }),
    /line 2: not query, document and grade/,
  );
  await t.rejects(broken({ qrels: {} }), /neither qrels\.tsv nor qrels/);
});

t.test('gain and recall are what trec_eval gives', async (t) => {
  const grades = new Map([
    ['a', 2],
    ['b', 1],
    ['c', 0],
  ]);
  t.equal(ndcg(['a', 'b', 'c'], grades), 1);
  t.equal(ndcg(['x', 'y'], grades), 0);
  // (1/log2(2) + 2/log2(4)) / (2/log2(2) + 1/log2(3)), by hand.
  t.ok(Math.abs(ndcg(['b', 'x', 'a'], grades) - (1 + 1) / (2 + 1 / Math.log2(3))) < 1e-12);
  t.equal(recall(['a', 'x'], grades), 0.5);
  t.equal(mean([]), 0);
});

t.test('`make quality SET=` judges sets that it has never seen: texts, captions, questions', async (t) => {
  const folder = t.testdir({ 'strange-texts': files, 'strange-pictures': { sub: {} }, 'strange-pages': {} });
  const sample = (name: string, to: string) => copyFileSync(join(root, 'samples', name), join(folder, to));
  sample(PICTURES[0], `strange-pictures/${PICTURES[0]}`);
  sample(PICTURES[1], `strange-pictures/sub/${PICTURES[1]}`);
  const captions = { [PICTURES[0]]: 'an animal', [`sub/${PICTURES[1]}`]: 'food' };
  writeFileSync(join(folder, 'strange-pictures/captions.json'), JSON.stringify(captions));
  sample('almanac.pdf', 'strange-pages/almanac.pdf');
  const questions = [
    { query: 'how do insects tell each other where food is?', file: 'almanac.pdf', page: 3 },
  ];
  writeFileSync(join(folder, 'strange-pages/questions.json'), JSON.stringify({ questions }));
  const sets = ['strange-texts', 'strange-pictures', 'strange-pages'].map((name) => join(folder, name));
  const { status, output } = await run(sets, folder);
  t.equal(status, 0, output);
  const rows = rowsIn<Row>(readFileSync(/record: (.*)/.exec(output)?.[1] ?? '', 'utf8'));
  const figures = Object.fromEntries(rows.map(({ metric, value }) => [metric, value]));
  t.match(figures, {
    'sets/strange-texts/documents': 3,
    'sets/strange-texts/fused/ndcg_at_10': 1,
    'sets/strange-texts/fused/recall_at_100': 1,
    ...deep({}, { 'sets/strange-texts/plain/plain_bm25': Number }),
    'sets/strange-pictures/by_picture/overall': 1,
    'sets/strange-pages/page_r_at_5': 1,
  });
});

function run(sets: readonly string[], records: string): Promise<{ status: number | null; output: string }> {
  return new Promise((done) => {
    // Without what the test runner puts into NODE_OPTIONS.
    const env = {
      ...BARE_ENVIRONMENT,
      CACHE_DIR,
      RECORD_DIR: records,
      PLAIN: deep('0', '1'),
      SET: sets.join(','),
    };
    const child = spawn(process.execPath, ['--no-warnings', join(root, 'bench/main.ts'), 'quality'], {
      env,
    });
    let output = '';
    const keep = (piece: Buffer) => {
      output += piece.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('close', (status) => done({ status, output }));
  });
}
