import { join, resolve } from 'node:path';
import { type BenchServer, BenchWorkspace, inParallel, quantile, startServer } from '../rig/agent.ts';
import { forkFacilitator } from '../rig/facilitator.ts';
import { BenchPayer, type Offer } from '../rig/payer.ts';
import { untilIdle } from '../rig/process-tree.ts';
import { processorTimes } from '../rig/thread-times.ts';
import { WireClient } from '../rig/wire-client.ts';
import { benchSet, firstDocuments, markdownOf } from '../sets/beir.ts';

/**
 * Cost of each kind of request, one client and one request at a time: milliseconds, and processor time by thread, beside a bare
 * HTTP exchange. `BESIDE=<another built tree>` measures that tree's server in turns with this one,
 * `MODELS_BESIDE=<a folder of models>` this one with other models in use; `FARTHING_PROVIDER` says who encodes.
 */

const { DOCUMENTS, ROUNDS, REQUESTS, ONLY = '', BESIDE, MODELS_BESIDE } = process.env;
const [documents, rounds, requests] = [DOCUMENTS, ROUNDS, REQUESTS].map(Number) as [number, number, number];
const WARM_UP = 2;
/** Texts are uploaded until there are none left: fewer a round than searches. */
const UPLOADS_A_ROUND = 25;
/** More than all prepaid searches cost. */
const PREPAID_USD = 90;
const PAY_TO = '0x00000000000000000000000000000000000fa271';
const UNLIMITED = { TENANT_REQUESTS_PER_SECOND: '1000000' };

const set = await benchSet();
const queries = set.queries.map(({ text }) => text);
const uploads = firstDocuments(set, documents + rounds * UPLOADS_A_ROUND + 50);

interface Kind {
  readonly name: string;
  readonly count: number;
  prepare(subject: Subject, at: number): Promise<Ask>;
}

interface Ask {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A server with a filled workspace, and a payer's filled index. */
interface Subject {
  readonly name: string;
  readonly server: BenchServer;
  readonly workspace: BenchWorkspace;
  client: WireClient;
  readonly payer: BenchPayer;
  readonly offer: Offer;
  /** Pays with the payer's prepaid money. */
  readonly prepaid: Offer;
  uploaded: number;
}

const search = (name: string, rest: object): Kind => ({
  name,
  count: requests,
  prepare: async ({ workspace }, at) => ({
    path: `${new URL(workspace.url).pathname}/search`,
    headers: workspace.headers,
    body: JSON.stringify({ query: queries[at % queries.length], ...rest }),
  }),
});

const paid = (name: string, offerOf: (subject: Subject) => Offer): Kind => ({
  name,
  count: requests,
  prepare: async (subject, at) => ({
    path: '/agent/v1/search',
    headers: await subject.payer.headers(offerOf(subject)),
    body: JSON.stringify({ query: queries[at % queries.length], k: 10 }),
  }),
});

const ALL: readonly Kind[] = [
  {
    name: 'bare HTTP exchange',
    count: requests,
    prepare: async () => ({ path: '/healthz', headers: {}, body: '' }),
  },
  search('raw, 1 hit', { families: ['raw'], k: 1 }),
  search('raw, 10 hits', { families: ['raw'], k: 10 }),
  search('raw, 30 hits', { families: ['raw'], k: 30 }),
  search('text_semantic, 10 hits', { families: ['text_semantic'], k: 10 }),
  search('all families, 10 hits', { k: 10 }),
  search('all families, 30 hits', {}),
  paid('paid, all families, 10 hits', ({ offer }) => offer),
  paid('prepaid, all families, 10 hits', ({ prepaid }) => prepaid),
  {
    name: 'upload of one text',
    count: UPLOADS_A_ROUND,
    prepare: async (subject) => {
      const one = uploads[subject.uploaded++]!;
      return {
        path: `${new URL(subject.workspace.url).pathname}/ingest`,
        headers: {
          ...subject.workspace.headers,
          Prefer: 'wait=60',
          'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(one.id)}.md`,
        },
        body: markdownOf(one),
      };
    },
  },
];
const KINDS = ALL.filter(({ name }) => new RegExp(ONLY).test(name));

/** Figures of one kind of request at one server. */
interface Figures {
  readonly ms: number[];
  /** By the name of the thread, milliseconds of all requests. */
  readonly threads: Record<string, number>;
  requests: number;
}

const facilitator = await forkFacilitator();
const settings = { FACILITATOR: facilitator.url, PAY_TO, ...UNLIMITED };
const servers: [string, BenchServer][] = [['here', await startServer(settings)]];
if (BESIDE || MODELS_BESIDE) {
  const models: Record<string, string> = MODELS_BESIDE ? { MODELS_DIR: resolve(MODELS_BESIDE) } : {};
  const program = join(resolve(BESIDE || '.'), '.build/server/main.js');
  servers.push(['beside', await startServer({ ...settings, ...models }, { program })]);
}
const subjects: Subject[] = [];
const figures = new Map<string, Figures>();
try {
  for (const [name, server] of servers) subjects.push(await fill(name, server));
  for (let round = 0; round < rounds + WARM_UP; round += 1)
    for (const kind of KINDS)
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed())
        await measure(subject, kind, round);
} finally {
  for (const { client } of subjects) client.close();
  await Promise.all(servers.map(([, server]) => server.stop()));
  facilitator.close();
}

async function fill(name: string, server: BenchServer): Promise<Subject> {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const files = uploads.slice(0, documents);
  await inParallel('workspace', files, 8, (one) =>
    workspace.ingest(`${one.id}.md`, Buffer.from(markdownOf(one))),
  );
  const payer = new BenchPayer();
  const offer = await BenchPayer.offer(`${server.url}/agent/v1/search`);
  const ingest = await BenchPayer.offer(`${server.url}/agent/v1/ingest`);
  const prepaid = await payer.prepay(server.url, PREPAID_USD);
  const client = await WireClient.open(server.url);
  for (const one of files.slice(0, 150)) {
    const headers = {
      ...(await payer.headers(ingest)),
      Prefer: 'wait=60',
      'Content-Disposition': `attachment; filename=${one.id}.md`,
    };
    const { status, body } = await client.send('POST', '/agent/v1/ingest', headers, markdownOf(one));
    if (status !== 200) throw new Error(`an upload was answered ${status}: ${body}`);
  }
  await untilIdle(server.pid);
  return { name, server, workspace, client, payer, offer, prepaid, uploaded: documents };
}

async function measure(subject: Subject, kind: Kind, round: number): Promise<void> {
  const asks = [];
  for (let at = 0; at < kind.count; at += 1) asks.push(await kind.prepare(subject, round * kind.count + at));
  // A server ends a connection that was idle while another was measured.
  if (!subject.client.open) subject.client = await WireClient.open(subject.server.url);
  const before = processorTimes(subject.server.pid);
  const times: number[] = [];
  for (const { path, headers, body } of asks) {
    const answer = await subject.client.send(body === '' ? 'GET' : 'POST', path, headers, body);
    if (answer.status >= 300) throw new Error(`${kind.name} was answered ${answer.status}: ${answer.body}`);
    times.push(answer.ms);
  }
  const after = processorTimes(subject.server.pid);
  if (round < WARM_UP) return;
  const key = subject.name === 'here' ? kind.name : `${kind.name} (${subject.name})`;
  const of = figures.get(key) ?? { ms: [], threads: {}, requests: 0 };
  figures.set(key, of);
  of.ms.push(...times);
  of.requests += asks.length;
  for (const [thread, ms] of Object.entries(after))
    of.threads[thread] = (of.threads[thread] ?? 0) + ms - (before[thread] ?? 0);
}

export const facts = Object.fromEntries(
  [...figures].map(([key, { ms, threads, requests }]) => {
    const each = Object.entries(threads).map(([thread, total]) => [thread, total / requests] as const);
    const [p50, p99] = [quantile(ms, 0.5), quantile(ms, 0.99)];
    const processor = each.reduce((sum, [, value]) => sum + value, 0);
    return [
      key,
      {
        p50_ms: p50,
        p99_ms: p99,
        processor_ms: processor,
        threads_ms: Object.fromEntries(each.filter(([, value]) => value >= 0.01)),
      },
    ];
  }),
);
