import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import '../../../rig/teardown-order.ts';
import { eventually } from '../../../rig/eventually.ts';
import { ServedProcess } from '../../../rig/served-process.ts';
import { TestAgent, type TestAnswer, type TestWorkspace } from '../../../rig/test-server.ts';

/** Nothing that was ingested or searched is found after the tenant's end, whatever its reason. */

const MINUTE_MS = 60_000;
const CRASHED = 4;

/** Strings and picture bytes that occur nowhere else. */
interface Traces {
  readonly texts: string[];
  readonly names: string[];
  readonly title: string;
  readonly queries: string[];
  readonly stored: Buffer<ArrayBuffer>;
  readonly searched: Buffer<ArrayBuffer>;
}

const word = () => `zq${randomBytes(8).toString('hex')}`;
const words = (count: number) => Array.from({ length: count }, word);

function traces(): Traces {
  return {
    texts: words(3),
    names: words(3),
    title: word(),
    queries: words(3),
    stored: noise(),
    searched: noise(),
  };
}

/** An uncompressed 64 × 64 picture of noise, whose bytes can be found in any file. */
function noise(): Buffer<ArrayBuffer> {
  const side = 64;
  const pixels = randomBytes(side * side * 3);
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(side, 18);
  head.writeInt32LE(side, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, pixels]) as Buffer<ArrayBuffer>;
}

const strings = ({ texts, names, title, queries }: Traces) => [...texts, ...names, title, ...queries];

/** Search patterns: the strings, and parts of the pictures as bytes and as base64. */
function needles(of: Traces): Map<string, Buffer> {
  const found = new Map(strings(of).map((text) => [text, Buffer.from(text)]));
  for (const [name, picture] of [
    ['stored picture', of.stored],
    ['searched picture', of.searched],
  ] as const) {
    found.set(name, picture.subarray(6000, 6048));
    found.set(`${name} in base64`, Buffer.from(picture.toString('base64').slice(8000, 8064)));
  }
  return found;
}

/** Those that occur in a file below the folder, by file. */
function occurrences(folder: string, looked: Map<string, Buffer>): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    for (const [name, bytes] of looked)
      if (path.includes(bytes.toString('latin1'))) found.push(`${name} in the name ${path}`);
    if (!entry.isFile()) continue;
    const content = readFileSync(path);
    for (const [name, bytes] of looked) if (content.includes(bytes)) found.push(`${name} in ${path}`);
  }
  return found;
}

interface Party {
  ingest(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<TestAnswer>;
  search(json: object): Promise<TestAnswer>;
}

async function fill(
  party: Party,
  { texts, names, title, queries, stored, searched }: Traces,
): Promise<number[]> {
  const page = `<!doctype html><title>About ${title}</title><p>The word ${texts[2]} stands here.</p>`;
  const answers = [
    await party.ingest(`${names[0]}.txt`, `The lighthouse keeper wrote ${texts[0]} and ${texts[1]} at dawn.`),
    await party.ingest(`${names[1]}.html`, page),
    await party.ingest(`${names[2]}.bmp`, stored),
    await party.search({ query: `what is ${queries[0]} and who wrote ${texts[0]}?` }),
    await party.search({ query: `"${queries[1]}"`, families: ['raw'] }),
    await party.search({ query: queries[2] }),
    await party.search({ image_b64: searched.toString('base64') }),
  ];
  return answers.map(({ status }) => status);
}

/** The payer's index, with every answer kept for retries. */
const asPayer = (agent: TestAgent): Party => ({
  ingest: (name, content) =>
    agent.ingest(name, content, { 'Idempotency-Key': randomBytes(16).toString('hex') }),
  search: (json) =>
    agent.post('/agent/v1/search', json, { 'Idempotency-Key': randomBytes(16).toString('hex') }),
});

/** @param folder everything lies in it, `data` and `log` too @param settings beside those of every server */
async function endsWithoutTrace(t: Test, folder: string, settings: Record<string, string>): Promise<void> {
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const environment = { PAYER_INDEX_MINUTES: '1', ...settings };
  const first = await ServedProcess.start(t, { data, log, environment });
  const agent = new TestAgent(first.url);

  const deleted = await agent.rent({ ttl_minutes: 600 });
  const expired = await agent.rent({ ttl_minutes: 1 });
  const crashed: TestWorkspace[] = [];
  for (let index = 0; index < CRASHED; index++) crashed.push(await agent.rent({ ttl_minutes: 600 }));
  const parties: Party[] = [deleted, expired, asPayer(agent), ...crashed];
  const all = parties.map(traces);
  const everything = new Map(
    all.flatMap((one, party) => [...needles(one)].map(([name, bytes]) => [`${name} of ${party}`, bytes])),
  );
  t.ok(all.flatMap(strings).length >= 40);
  for (const [index, party] of parties.entries())
    t.ok((await fill(party, all[index]!)).every((status) => status === 200));

  const [ofWorkspace] = all;
  const expected = new Map([...needles(ofWorkspace!)].filter(([name]) => !/base64|searched/.test(name)));
  const namesFound = () => new Set(occurrences(data, expected).map((line) => line.split(' in ')[0]));
  await eventually(() => namesFound().size === expected.size);
  t.pass('before its end all of it is there to be found');

  t.equal((await deleted.send('DELETE', '')).status, 200);
  first.advance(2 * MINUTE_MS);
  const living = new Set(crashed.map(({ id }) => id));
  await eventually(async () => (await readdir(join(data, 'tenants'))).every((name) => living.has(name)));

  const deletions = crashed.map((workspace) => workspace.send('DELETE', '').catch(() => undefined));
  await Promise.race(deletions);
  await first.kill();
  const answered = (await Promise.all(deletions)).filter((answer) => answer?.status === 200).length;
  t.comment(`${answered} of ${CRASHED} disposals were answered before the process was killed`);

  const second = await ServedProcess.start(t, { data, log, environment });
  for (const { id, token } of crashed) {
    const answer = await fetch(`${second.url}/agent/v1/workspaces/${id}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${token}` },
    });
    t.match(await answer.json(), { id, state: 'disposed', receipt: String });
  }
  t.same(await readdir(join(data, 'tenants')), [], 'no folder is left over');
  t.same(occurrences(folder, everything), [], 'while the server runs');
  await second.kill();
  t.same(occurrences(folder, everything), [], 'and after its end');
}

t.test('nothing of an ended tenant is in any file of the data folder or in the log', (t) =>
  endsWithoutTrace(t, t.testdir({ log: '' }), {}),
);

t.test(
  'nothing of an ended tenant is in the files of etcd, in an object, in the data folder or in the log',
  withoutEtcd === undefined ? {} : { skip: withoutEtcd },
  async (t) => {
    const folder = t.testdir({ log: '', objects: {} });
    const objects = join(folder, 'objects');
    const etcd = await EtcdServers.start(join(folder, 'etcd'));
    t.teardown(() => etcd.stop());
    await endsWithoutTrace(t, folder, {
      CLUSTER: etcd.cluster('erasure'),
      FARTHING_OBJECTS: `file://${objects}`,
      FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex'),
    });
    const left = readdirSync(objects, { recursive: true, withFileTypes: true });
    t.same(
      left.filter((entry) => entry.isFile()).map(({ name }) => name),
      [],
      'no object is left',
    );
  },
);
