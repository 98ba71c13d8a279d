import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { claimsOf } from '../../bench/job/claims.ts';
import { Contender, type Contest } from '../../bench/job/contenders.ts';
import { type Measured, Measurement } from '../../bench/job/measure.ts';
import type { Plan } from '../../bench/job/scenarios.ts';
import type { BeirSet } from '../../bench/sets/beir.ts';

/** A stand-in for both servers: asks for a payment, then answers at once, and refuses when it is told to. */
async function startStandIn(seen: { searches: number; uploads: string[]; payments: Set<string> }) {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      const payment = request.headers['payment-signature'];
      const answer = (status: number, body: object, headers: Record<string, string> = {}) => {
        const text = JSON.stringify(body);
        response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text);
      };
      if (payment === undefined) {
        const accepts = [{ amount: '6000', payTo: '0x00000000000000000000000000000000000fa271' }];
        return answer(
          402,
          {},
          { 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify({ accepts })).toString('base64') },
        );
      }
      seen.payments.add(String(payment));
      if (request.url === '/ingest') {
        seen.uploads.push(String(request.headers['content-disposition']));
        return answer(200, {});
      }
      seen.searches += 1;
      return seen.searches % 2 === 0 ? answer(503, {}) : answer(200, { hits: [] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const set: BeirSet = {
  name: 'made up',
  documents: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, title: '', text: `Text ${id}.` })),
  queries: [{ id: 'q', text: 'text' }],
  judgements: new Map([['q', new Map([['c', 1]])]]),
};
const timed = { who: ['assembled'] as const, seconds: 0.3, warmUpSeconds: 0.1, runs: 1 };
const plan: Plan = {
  name: 'test',
  documents: 3,
  besides: 2,
  scenarios: [
    {
      ...timed,
      name: 'ingest',
      title: 'i',
      what: 'ingest',
      loop: { clients: 2 },
      seconds: 60,
      warmUpSeconds: 0,
    },
    { ...timed, name: 'search-2', title: 's', what: 'search', loop: { clients: 2 } },
    {
      ...timed,
      name: 'search-ingest',
      title: 'b',
      what: 'search',
      loop: { shareOfCapacity: 0.1 },
      ingestClients: 1,
    },
  ],
};

t.test(
  'a plan is carried out: each document once, the judged first, every request paid, rates from the capacity',
  async (t) => {
    const seen = { searches: 0, uploads: [] as string[], payments: new Set<string>() };
    const url = await startStandIn(seen);
    const contender = new Contender('assembled', { url, pid: process.pid, stop: async () => {} });
    const contest: Contest = { contenders: [contender], verifyTakes: () => {}, stop: async () => {} };
    const measurement = new Measurement(contest, plan, set);
    const measured: Measured[] = [];
    for (const scenario of plan.scenarios) measured.push(...(await measurement.scenario(scenario)));
    const [ingest, closed, beside] = measured;
    const uploaded = seen.uploads.map((one) => /''(.*)\.md/.exec(one)![1]);
    // Two clients may overtake each other.
    t.same(uploaded.slice(0, 3).sort(), ['a', 'b', 'c'], 'the judged one is among the first');
    t.same(uploaded.slice(3), ['d', 'e']);
    t.match(ingest!.runs, [{ statuses: { 200: 3 }, refused: 0 }]);
    const [run] = closed!.runs;
    t.ok(run!.latency_ms!.count > 0 && run!.latency_ms!.p50 <= run!.latency_ms!.p99);
    t.ok(run!.refused > 0 && run!.refused_ms !== null, 'refusals are counted apart');
    t.ok(run!.cpu_cores >= 0 && run!.anonymous_mib > 0 && run!.open_files > 0);
    const { loop } = beside!;
    t.ok('perSecond' in loop && loop.perSecond === Math.max(1, Math.round(0.1 * run!.per_second)));
    t.equal(seen.payments.size, seen.searches + seen.uploads.length, 'no payment is used twice');
    t.equal(claimsOf(measured, []).length, 8);
  },
);
