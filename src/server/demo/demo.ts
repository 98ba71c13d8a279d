import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Farthing, type Hit, type SearchOptions, type Workspace } from '@farthing/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** One search of each kind; the queries belong to the files in `samples/`. */
const SCRIPT = {
  meaning: 'how do insects tell each other where flowers are?',
  words: 'Fibonacci',
  /** The sample that is searched with as a picture. */
  picture: 'chelsea.png',
  description: 'a cup of coffee',
} as const;
const MINUTES_TO_TRY = 60;
const QUERY_COLUMNS = 54;

type Print = (line: string) => void;

/**
 * Shows one paid round trip against a running server: 402, payment, upload, four kinds of search, a workspace and its
 * receipt. Ends with what to do next.
 * @throws when a step is not answered as it should be
 */
export async function runDemo(baseUrl: string, samplesFolder: string, print: Print): Promise<void> {
  const files = await readSamples(samplesFolder);
  const demo = new Demo(baseUrl, print);
  print('A paid round trip: a new wallet with play money, and the files in samples/');
  print('');
  await demo.showChallenge();
  await demo.upload(files);
  print('');
  await demo.searchEachWay(files.find(({ name }) => name === SCRIPT.picture)!);
  print('');
  demo.showSpending();
  await demo.workspaceRoundTrip(files.find(({ name }) => name.endsWith('.pdf'))!);
  print('');
  await demo.leaveOneToTry(files);
}

async function readSamples(folder: string): Promise<File[]> {
  const names = (await readdir(folder)).filter((name) => /\.(pdf|jpg|png|md|txt)$/.test(name)).sort();
  return Promise.all(names.map(async (name) => new File([await readFile(join(folder, name))], name)));
}

/** The steps, each printed as it is done. */
class Demo {
  readonly #client: Farthing;
  readonly #print: Print;
  #receipts = 0;

  constructor(baseUrl: string, print: Print) {
    this.#print = print;
    this.#client = new Farthing({
      baseUrl,
      account: privateKeyToAccount(generatePrivateKey()),
      onPayment: () => {
        this.#receipts += 1;
      },
    });
  }

  async showChallenge(): Promise<void> {
    const response = await fetch(`${this.#client.baseUrl}/agent/v1/search`, { method: 'POST' });
    const { accepts } = (await response.json()) as {
      accepts: { maxAmountRequired: string; network: string }[];
    };
    const [option] = accepts;
    if (response.status !== 402 || !option)
      throw new Error(`an unpaid search was answered ${response.status}, not 402`);
    const usd = Number(option.maxAmountRequired) / 1e6;
    this.#print(`  a search without a payment is answered 402: ${usd} USD on ${option.network}`);
  }

  async upload(files: readonly File[]): Promise<void> {
    const { failed } = await this.#client.ingestMany(files);
    if (failed.length > 0) throw failed[0]!.error;
    this.#print(`  ${files.length} files uploaded and paid: ${files.map(({ name }) => name).join(', ')}`);
  }

  async searchEachWay(picture: File): Promise<void> {
    const { meaning, words, description } = SCRIPT;
    const client = this.#client;
    await this.#search(client, `“${meaning}”`, 'in your own words', { query: meaning });
    await this.#search(client, `“${words}”`, 'by exact words', { query: words, families: ['raw'] });
    await this.#search(client, picture.name, 'by picture', { image: picture });
    await this.#search(client, `“${description}”`, 'a picture by describing it', {
      query: description,
      families: ['visual'],
    });
  }

  showSpending(): void {
    const { spentUsd } = this.#client.spending;
    this.#print(`  ${this.#receipts} payments, ${spentUsd} USD of play money, each with its receipt`);
  }

  async workspaceRoundTrip(document: File): Promise<void> {
    const { workspace, record } = await this.#client.workspaces.rent();
    await workspace.ingest(document);
    const { hits } = await workspace.search({ query: SCRIPT.meaning, k: 1 });
    if (hits.length === 0) throw new Error('the search of the workspace found nothing');
    await workspace.dispose();
    this.#print(
      `  a workspace for ${record.ttl_minutes} minutes, ${record.price_usd} USD: searched free of charge, destroyed, its receipt verified`,
    );
  }

  async leaveOneToTry(files: readonly File[]): Promise<void> {
    const { workspace } = await this.#client.workspaces.rent({ ttlMinutes: MINUTES_TO_TRY });
    await workspace.ingestMany(files);
    const { baseUrl } = this.#client;
    for (const line of [
      `Next: open ${baseUrl} in a browser. Or search these files by hand; a workspace holds them for an hour:`,
      '',
      `  curl -s ${baseUrl}/agent/v1/workspaces/${workspace.id}/search \\`,
      `    -H 'Authorization: Bearer ${workspace.token}' -d '{"query": "${SCRIPT.description}", "k": 3}'`,
      '',
      'Your own files, paid by the call: npx farthing --help. Ctrl-C stops the server.',
      '',
    ])
      this.#print(line);
  }

  /** Prints a query and its first hit. */
  async #search(
    target: Farthing | Workspace,
    query: string,
    kind: string,
    options: SearchOptions,
  ): Promise<void> {
    const { hits, latency_ms } = await target.search({ ...options, k: 3 });
    const [first] = hits;
    if (!first) throw new Error(`the search ${query} found nothing`);
    this.#print(`  ${query.padEnd(QUERY_COLUMNS)}${kind}, ${latency_ms.toFixed(1)} ms`);
    this.#print(answerLine(first));
  }
}

const SNIPPET_CHARACTERS = 64;
const PLACE_COLUMNS = 22;

/** A hit as one line: confidence, file and page, and the words that were found. */
function answerLine({ confidence, item, locator, snippet }: Hit): string {
  const place = locator.page === undefined ? item.name : `${item.name}, page ${locator.page}`;
  const words = (snippet ?? '').replace(/\s+/g, ' ').trim();
  const shown =
    words.length <= SNIPPET_CHARACTERS ? words : `${words.slice(0, SNIPPET_CHARACTERS).trimEnd()}…`;
  return `    ${confidence.toFixed(2)}  ${place.padEnd(PLACE_COLUMNS)}${shown && `  ${shown}`}`.trimEnd();
}
