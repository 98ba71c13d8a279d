import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Item } from '../domain/item.ts';
import type { Hit } from '../domain/search.ts';
import { PayingAgent } from './paying-agent.ts';
import { formatTable } from './table.ts';

interface SearchAnswer {
  hits: Hit[];
  latency_ms: number;
}

interface IngestAnswer {
  item: Item;
  job: { state: string };
}

interface WorkspaceAnswer {
  id: string;
  ttl_minutes: number;
  price_usd: string;
  capability_token: string;
}

/** One search of each kind; the questions belong to the files in `samples/`. */
const SCRIPT = {
  meaning: 'how do insects tell each other where flowers are?',
  words: 'Fibonacci',
  /** The sample whose picture is searched with. */
  picture: 'chelsea.png',
  description: 'a cup of coffee',
} as const;

type Print = (line: string) => void;

/**
 * One paid round trip against a running server, told on the terminal: 402, payment, upload, four kinds of search, a
 * workspace and its disposal. Ends with lines to try by hand.
 * @throws when any step is not answered as it should be
 */
export async function runDemo(baseUrl: string, samplesFolder: string, print: Print): Promise<void> {
  const agent = new PayingAgent(baseUrl);
  const files = await readSamples(samplesFolder);
  print('');
  print('A paid round trip on the sample files, with a throwaway wallet (play money: nothing real is moved)');
  print(`  wallet ${agent.address}`);
  await showChallenge(baseUrl, print);
  for (const file of files) await ingest(agent, '/agent/v1/ingest', file, {}, print);
  const search = (title: string, request: object) =>
    showSearch(agent, '/agent/v1/search', title, request, {}, print);
  await search(`by meaning: “${SCRIPT.meaning}”`, {
    query: SCRIPT.meaning,
    families: ['text_semantic'],
    k: 3,
  });
  await search(`by exact words: “${SCRIPT.words}”`, { query: SCRIPT.words, families: ['raw'], k: 3 });
  const picture = files.find(({ name }) => name === SCRIPT.picture)!;
  const image_b64 = Buffer.from(await picture.arrayBuffer()).toString('base64');
  await search(`by picture: ${SCRIPT.picture}`, { image_b64, k: 3 });
  await search(`a picture by describing it: “${SCRIPT.description}”`, {
    query: SCRIPT.description,
    families: ['visual'],
    k: 3,
  });
  await workspaceRoundTrip(agent, baseUrl, files, print);
  await leaveOneToTry(agent, baseUrl, files, print);
}

async function readSamples(folder: string): Promise<File[]> {
  const names = (await readdir(folder)).filter((name) => /\.(pdf|jpg|png|md|txt)$/.test(name)).sort();
  return Promise.all(names.map(async (name) => new File([await readFile(join(folder, name))], name)));
}

async function showChallenge(baseUrl: string, print: Print): Promise<void> {
  const response = await fetch(`${baseUrl}/agent/v1/search`, { method: 'POST' });
  const challenge = (await response.json()) as { accepts: { maxAmountRequired: string; network: string }[] };
  const [option] = challenge.accepts;
  if (response.status !== 402 || !option)
    throw new Error(`an unpaid search was answered ${response.status}, not 402`);
  const usd = Number(option.maxAmountRequired) / 1e6;
  print(`  unpaid search → 402 Payment Required: ${usd} USD on ${option.network}`);
}

async function ingest(
  agent: PayingAgent,
  path: string,
  file: File,
  headers: Record<string, string>,
  print: Print,
): Promise<void> {
  const { body, transaction } = await agent.send<IngestAnswer>('POST', path, {
    file,
    headers: { Prefer: 'wait=60', ...headers },
  });
  if (body.job.state !== 'searchable') throw new Error(`${file.name} ended as ${body.job.state}`);
  const receipt = transaction ? `, receipt ${transaction.slice(0, 18)}…` : '';
  print(`  uploaded ${file.name}: ${body.item.media_type}, ${body.item.segments} segments${receipt}`);
}

async function showSearch(
  agent: PayingAgent,
  path: string,
  title: string,
  request: object,
  headers: Record<string, string>,
  print: Print,
): Promise<void> {
  const { body, transaction } = await agent.send<SearchAnswer>('POST', path, { json: request, headers });
  if (body.hits.length === 0) throw new Error(`the search ${title} found nothing`);
  const paid = transaction ? `, receipt ${transaction.slice(0, 18)}…` : '';
  print('');
  print(`  search ${title} → ${body.latency_ms.toFixed(1)} ms${paid}`);
  print(
    formatTable(
      ['  family', 'item', 'page', 'confidence', 'snippet'],
      body.hits.map(({ family, item, locator, confidence, snippet }) => [
        `  ${family}`,
        item.name,
        locator.page === undefined ? '' : String(locator.page),
        confidence.toFixed(2),
        (snippet ?? '').replace(/\s+/g, ' ').slice(0, 60),
      ]),
    ),
  );
}

async function rent(agent: PayingAgent, minutes: number, print: Print): Promise<WorkspaceAnswer> {
  const { body } = await agent.send<WorkspaceAnswer>('POST', '/agent/v1/workspaces', {
    json: { ttl_minutes: minutes },
  });
  print('');
  print(`  workspace ${body.id}: ${body.ttl_minutes} minutes for ${body.price_usd} USD`);
  return body;
}

async function workspaceRoundTrip(
  agent: PayingAgent,
  baseUrl: string,
  files: readonly File[],
  print: Print,
): Promise<void> {
  const { id, capability_token } = await rent(agent, 15, print);
  const headers = { Authorization: `Bearer ${capability_token}` };
  const path = `/agent/v1/workspaces/${id}`;
  const document = files.find(({ name }) => name.endsWith('.pdf'))!;
  await ingest(agent, `${path}/ingest`, document, headers, print);
  await showSearch(
    agent,
    `${path}/search`,
    `inside it: “${SCRIPT.meaning}”`,
    { query: SCRIPT.meaning, k: 2 },
    headers,
    print,
  );
  const { body } = await agent.send<{ receipt: string }>('DELETE', path, { headers });
  const keys = (await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const { payload } = await compactVerify(body.receipt, createLocalJWKSet(keys));
  const claims = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
  print('');
  print(`  deleted; the disposal receipt’s signature is good: ${JSON.stringify(claims).slice(0, 100)}…`);
}

async function leaveOneToTry(
  agent: PayingAgent,
  baseUrl: string,
  files: readonly File[],
  print: Print,
): Promise<void> {
  const { id, capability_token } = await rent(agent, 60, print);
  const headers = { Authorization: `Bearer ${capability_token}` };
  for (const file of files)
    await ingest(agent, `/agent/v1/workspaces/${id}/ingest`, file, headers, () => undefined);
  print('');
  print('Try it by hand: this workspace holds the same files and lives for an hour. Paste:');
  print('');
  print(`  W=${baseUrl}/agent/v1/workspaces/${id}`);
  print(`  A='Authorization: Bearer ${capability_token}'`);
  print(`  curl -s $W/search -H "$A" -d '{"query": "${SCRIPT.meaning}", "k": 3}'`);
  print(`  curl -s $W/ingest -H "$A" -H 'Prefer: wait=30' -F file=@/path/to/your/file.pdf`);
  print(`  curl -s $W/usage -H "$A"`);
  print(`  curl -s -X DELETE $W -H "$A"`);
  print(`  curl -si -X POST ${baseUrl}/agent/v1/search | head -n 1     # without a payment: 402`);
  print('');
}
