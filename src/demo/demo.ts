import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type SearchOptions, type Workspace } from '../client/index.ts';
import { formatTable } from './table.ts';

/** One search of each kind; the queries belong to the files in `samples/`. */
const SCRIPT = {
  meaning: 'how do insects tell each other where flowers are?',
  words: 'Fibonacci',
  /** The sample that is searched with as a picture. */
  picture: 'chelsea.png',
  description: 'a cup of coffee',
} as const;
const MINUTES = 15;
const MINUTES_TO_TRY = 60;

type Print = (line: string) => void;

/**
 * Shows one paid round trip against a running server: 402, payment, upload, four kinds of search, a workspace and its
 * disposal. Ends with lines to try by hand.
 * @throws when a step is not answered as it should be
 */
export async function runDemo(baseUrl: string, samplesFolder: string, print: Print): Promise<void> {
  const files = await readSamples(samplesFolder);
  const demo = new Demo(baseUrl, print);
  print('');
  print('A paid round trip on the sample files, with a throwaway wallet (play money: nothing real is moved)');
  print(`  wallet ${demo.wallet}`);
  await demo.showChallenge();
  for (const file of files) await demo.ingest(demo.client, file);
  await demo.searchEachWay(files.find(({ name }) => name === SCRIPT.picture)!);
  await demo.workspaceRoundTrip(files.find(({ name }) => name.endsWith('.pdf'))!);
  await demo.leaveOneToTry(files);
}

async function readSamples(folder: string): Promise<File[]> {
  const names = (await readdir(folder)).filter((name) => /\.(pdf|jpg|png|md|txt)$/.test(name)).sort();
  return Promise.all(names.map(async (name) => new File([await readFile(join(folder, name))], name)));
}

/** The steps, each printed as it is done. */
class Demo {
  readonly client: Farthing;
  readonly wallet: string;
  readonly #print: Print;
  /** Transaction of the call that was charged last, until it is printed. */
  #transaction: string | undefined;

  constructor(baseUrl: string, print: Print) {
    const account = privateKeyToAccount(generatePrivateKey());
    this.wallet = account.address;
    this.#print = print;
    this.client = new Farthing({
      baseUrl,
      account,
      onPayment: ({ transaction }) => {
        this.#transaction = transaction;
      },
    });
  }

  async showChallenge(): Promise<void> {
    const response = await fetch(`${this.client.baseUrl}/agent/v1/search`, { method: 'POST' });
    const { accepts } = (await response.json()) as {
      accepts: { maxAmountRequired: string; network: string }[];
    };
    const [option] = accepts;
    if (response.status !== 402 || !option)
      throw new Error(`an unpaid search was answered ${response.status}, not 402`);
    const usd = Number(option.maxAmountRequired) / 1e6;
    this.#print(`  unpaid search → 402 Payment Required: ${usd} USD on ${option.network}`);
  }

  async ingest(target: Farthing | Workspace, file: File): Promise<void> {
    const { item } = await target.ingest(file);
    this.#print(
      `  uploaded ${file.name}: ${item.media_type}, ${item.segments} segments${this.#takeReceipt()}`,
    );
  }

  async searchEachWay(picture: File): Promise<void> {
    const { meaning, words, description } = SCRIPT;
    const search = (title: string, query: SearchOptions) =>
      this.#search(this.client, title, { ...query, k: 3 });
    await search(`in your own words: “${meaning}”`, { query: meaning });
    await search(`by exact words: “${words}”`, { query: words, families: ['raw'] });
    await search(`by picture: ${picture.name}`, { image: picture });
    await search(`a picture by describing it: “${description}”`, {
      query: description,
      families: ['visual'],
    });
  }

  async workspaceRoundTrip(document: File): Promise<void> {
    const workspace = await this.#rent(MINUTES);
    await this.ingest(workspace, document);
    await this.#search(workspace, `inside it: “${SCRIPT.meaning}”`, { query: SCRIPT.meaning, k: 2 });
    const { claims } = await workspace.dispose();
    this.#print('');
    this.#print(
      `  deleted; the disposal receipt’s signature is good: ${JSON.stringify(claims).slice(0, 100)}…`,
    );
  }

  async leaveOneToTry(files: readonly File[]): Promise<void> {
    const workspace = await this.#rent(MINUTES_TO_TRY);
    for (const file of files) await workspace.ingest(file);
    const { id, token } = workspace;
    const { baseUrl } = this.client;
    for (const line of [
      '',
      'Try it by hand: this workspace holds the same files and lives for an hour. Paste:',
      '',
      `  W=${baseUrl}/agent/v1/workspaces/${id}`,
      `  A='Authorization: Bearer ${token}'`,
      `  curl -s $W/search -H "$A" -d '{"query": "${SCRIPT.meaning}", "k": 3}'`,
      `  curl -s $W/ingest -H "$A" -H 'Prefer: wait=30' -F file=@/path/to/your/file.pdf`,
      `  curl -s $W/usage -H "$A"`,
      `  curl -s -X DELETE $W -H "$A"`,
      `  curl -si -X POST ${baseUrl}/agent/v1/search | head -n 1     # without a payment: 402`,
      '',
    ])
      this.#print(line);
  }

  async #rent(ttlMinutes: number): Promise<Workspace> {
    const { workspace, record } = await this.client.workspaces.rent({ ttlMinutes });
    this.#transaction = undefined;
    this.#print('');
    this.#print(`  workspace ${record.id}: ${record.ttl_minutes} minutes for ${record.price_usd} USD`);
    return workspace;
  }

  async #search(target: Farthing | Workspace, title: string, query: SearchOptions): Promise<void> {
    const { hits, latency_ms } = await target.search(query);
    if (hits.length === 0) throw new Error(`the search ${title} found nothing`);
    this.#print('');
    this.#print(`  search ${title} → ${latency_ms.toFixed(1)} ms${this.#takeReceipt()}`);
    this.#print(
      formatTable(
        ['  family', 'item', 'page', 'confidence', 'snippet'],
        hits.map(({ family, item, locator, confidence, snippet }) => [
          `  ${family}`,
          item.name,
          locator.page === undefined ? '' : String(locator.page),
          confidence.toFixed(2),
          (snippet ?? '').replace(/\s+/g, ' ').slice(0, 60),
        ]),
      ),
    );
  }

  /** What the last call was charged by, as the end of its line; empty when it was not charged. */
  #takeReceipt(): string {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    return transaction ? `, receipt ${transaction.slice(0, 18)}…` : '';
  }
}
