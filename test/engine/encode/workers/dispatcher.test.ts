import t from 'tap';
import { Dispatcher } from '../../../../src/engine/encode/workers/dispatcher.ts';
import { EncoderThread } from '../../../../src/engine/encode/workers/encoder-thread.ts';
import { TextJob } from '../../../../src/engine/encode/workers/job.ts';
import { taskBounds, type WorkKind } from '../../../../src/engine/encode/workers/work-kinds.ts';

/** Places of the worker's counts of ingest tasks: that ran at once, and that began. Its module runs in worker threads only. */
const [MOST, BEGUN] = [998, 999] as const;
const FAILING = new URL('./failing-worker.ts', import.meta.url);

const BOUNDS = taskBounds(8, 1e6);
const kind = {
  towers: [0],
  parts: [{ spaces: ['text_semantic'], dimensions: 2 }],
  tokensMax: 1000,
  inputBytes: 0,
  bounds: BOUNDS,
} as const;
const QUERIES: WorkKind = { ...kind, name: 'query_texts', use: 'query' };
const PASSAGES: WorkKind = { ...kind, name: 'passage_texts', use: 'ingest' };

function dispatcher(
  roles: readonly ('query' | 'ingest')[] = ['query', 'ingest'],
  labels = new SharedArrayBuffer(4 * 1000),
  queryQueueMax = 1000,
  queryWaitMsMax?: number,
  log: (event: object) => void = () => {},
) {
  const start = (role: 'query' | 'ingest') => {
    const memory = { input: new SharedArrayBuffer(0), output: new SharedArrayBuffer(64 * 8), labels };
    return new EncoderThread({ role, towers: [], ...memory }, { worker: FAILING });
  };
  const threads = roles.map((role) => start(role));
  const opened = new Dispatcher({
    threads,
    queryQueueMax,
    queryWaitMsMax,
    ingestQueueMax: 100,
    boundsOf: () => BOUNDS,
    models: ['m'],
    log,
  });
  t.teardown(() => opened.close());
  return opened;
}

const query = (text: string, tenant = 'a', waitMsMax?: number) =>
  new TextJob(QUERIES, [text], { tenant, waitMsMax });
const answer = async (opened: Dispatcher, text: string) => [
  ...(await opened.query(query(text))).text_semantic![0]!,
];

t.test('workers that throw or die lose no query and answer none twice', async (t) => {
  const opened = dispatcher();
  const texts = Array.from(
    { length: 400 },
    (_, index) => `${index % 16 === 3 ? 'throw' : index % 40 === 5 ? 'exit' : 'fine'} ${index}`,
  );
  const answers = await Promise.all(texts.map((text) => answer(opened, text)));
  t.strictSame(
    answers,
    texts.map((text) => [text.length, 1]),
  );
  const { workerFailures, repeatedPieces } = opened.counters;
  t.ok(workerFailures >= 30, `${workerFailures} failures`);
  t.ok(repeatedPieces >= workerFailures);
  t.strictSame(opened.depths(), { queries: 0, ingest: 0 });
});

t.test('a worker that comes back without its model gets no more work', async (t) => {
  let onLost!: (event: object) => void;
  const lost = new Promise<object>((resolve) => {
    onLost = resolve;
  });
  const opened = dispatcher(['query', 'query'], undefined, undefined, undefined, (event) => {
    if ((event as { event: string }).event === 'encode_worker_lost') onLost(event);
  });
  t.strictSame(await answer(opened, 'lose 1'), ['lose 1'.length, 1]);
  t.match(await lost, { role: 'query', error: /m: no memory is left/ });
  const all = await Promise.all(Array.from({ length: 100 }, (_, index) => answer(opened, `fine ${index}`)));
  t.equal(all.length, 100);
  t.equal(opened.counters.workerFailures, 1, 'the others went past it');
  t.ok(opened.serving);
  await t.rejects(answer(opened, 'lose 2'), { code: 'not_ready' });
  t.notOk(opened.serving);
  t.throws(() => opened.admitQuery('a'), { code: 'not_ready' });
});

t.test('an entry that always fails is refused in the end, and no other with it', async (t) => {
  const opened = dispatcher();
  const neighbours = ['fine 1', 'always 2', 'fine 3'].map((text) => answer(opened, text));
  const [first, broken, last] = await Promise.allSettled(neighbours);
  t.match(broken, { status: 'rejected', reason: { code: 'internal' } });
  t.strictSame([first!.status, last!.status], ['fulfilled', 'fulfilled']);
});

t.test('queries go before the waiting work of an ingest', async (t) => {
  const opened = dispatcher(['ingest']);
  const done: string[] = [];
  const texts = Array.from({ length: 200 }, (_, index) => `passage ${index}`);
  const passages = new TextJob(PASSAGES, texts, { tenant: 'a' });
  const ingest = opened.ingest(passages).then(() => done.push('ingest'));
  await Promise.all(Array.from({ length: 20 }, (_, index) => answer(opened, `fine ${index}`)));
  done.push('queries');
  await ingest;
  t.strictSame(done, ['queries', 'ingest']);
});

const passages = (text: string, count: number) =>
  new TextJob(PASSAGES, Array<string>(count).fill(text), { tenant: 'a' });

t.test('an ingest uses all ingest workers while there are no searches', async (t) => {
  const labels = new SharedArrayBuffer(4 * 1000);
  const opened = dispatcher(['query', 'ingest', 'ingest'], labels);
  await opened.ingest(passages('meet', 16));
  t.equal(new Int32Array(labels)[MOST], 2);
});

t.test(
  'while there are searches, an ingest leaves an ingest worker idle for each query worker',
  async (t) => {
    const labels = new SharedArrayBuffer(4 * 1000);
    const opened = dispatcher(['query', 'ingest', 'ingest'], labels);
    let over = false;
    const searching = (async () => {
      while (!over) await answer(opened, 'fine 1');
    })();
    await opened.ingest(passages('fine', 400));
    over = true;
    await searching;
    t.equal(new Int32Array(labels)[MOST], 1);
  },
);

t.test("that worker takes a few words which would wait for another owner's long work", async (t) => {
  const labels = new SharedArrayBuffer(4 * 1000);
  const opened = dispatcher(['query', 'ingest', 'ingest'], labels);
  await answer(opened, 'fine 1');
  let over = false;
  const searching = (async () => {
    while (!over) await answer(opened, 'fine 1');
  })();
  // Waits until a second task runs beside it.
  const long = opened.ingest(passages('meet', 200));
  while (new Int32Array(labels)[BEGUN] === 0) await answer(opened, 'fine 1');
  await opened.ingest(new TextJob(PASSAGES, ['fine 2'], { tenant: 'b' }));
  t.equal(new Int32Array(labels)[MOST], 2);
  await long;
  over = true;
  await searching;
});

t.test('a query that would wait too long is refused at once, but a few may always wait', async (t) => {
  // Before anything is measured a query counts as ten milliseconds: ten of them may wait.
  const opened = dispatcher(['query'], undefined, 1000, 100);
  const outcomes = Array.from({ length: 40 }, (_, index) =>
    answer(opened, `fine ${index}`).then(
      () => 'answered',
      (error: { code: string }) => error.code,
    ),
  );
  const ends = await Promise.all(outcomes);
  const refused = ends.filter((end) => end === 'overloaded').length;
  t.equal(ends.filter((end) => end === 'answered').length, 40 - refused);
  t.ok(refused >= 20 && refused <= 31, `${refused} of 40 were refused`);
  const patient = dispatcher(['query'], undefined, 1000, 100);
  const paid = Array.from({ length: 200 }, (_, index) => patient.query(query(`fine ${index}`, 'a', 5000)));
  t.equal((await Promise.all(paid)).length, 200, 'paid ones wait longer');
  const few = dispatcher(['query'], undefined, 1000, 0.001);
  const all = Array.from({ length: 9 }, (_, index) => answer(few, `fine ${index}`));
  t.equal((await Promise.all(all)).length, 9);
});

t.test(
  'of a thousand queries of one owner at once, half of the places wait and the others are refused before anything else runs',
  async (t) => {
    const queue = 512;
    const most = queue / 2;
    const opened = dispatcher(['query'], undefined, queue);
    const answered = new Map<number, number>();
    const refused = new Set<number>();
    const all = Array.from({ length: 1000 }, (_, index) =>
      answer(opened, `fine ${index}`).then(
        (row) => {
          t.equal(row[0], `fine ${index}`.length);
          answered.set(index, (answered.get(index) ?? 0) + 1);
        },
        (error: { code?: string; retryAfterS?: number }) => {
          t.equal(error.code, 'overloaded');
          t.ok(error.retryAfterS! >= 1);
          refused.add(index);
        },
      ),
    );
    // Refusals are decided in the turn of their call: not one answer can have come in the meantime.
    await new Promise<void>((resume) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(resume))));
    t.equal(answered.size, 0);
    t.ok(refused.size >= 1000 - most - 8, `${refused.size} were refused at once`);
    await Promise.all(all);
    t.equal(answered.size + refused.size, 1000);
    t.ok(answered.size >= most);
    t.strictSame(new Set(answered.values()), new Set([1]));
    t.strictSame(opened.depths(), { queries: 0, ingest: 0 });
  },
);
