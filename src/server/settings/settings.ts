import { OWN_MODELS } from '@farthing/native/own-models';
import { COINS } from '@farthing/payment/asset';
import { readFacilitators } from '@farthing/payment/facilitator/facilitators';
import { parseUsd } from '@farthing/protocol/money';
import { CLUSTER_SETTINGS } from './cluster-settings.ts';
import {
  address,
  choice,
  contact,
  dollarsOrNone,
  gweiOrNone,
  httpUrl,
  iconUrl,
  integer,
  label,
  list,
  nodeUrls,
  portOrOff,
  rowsOrMeasured,
  type Setting,
  secret,
  setting,
  shortText,
  tags,
  text,
} from './readers.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * Every setting: how it is read, its default as text, and what it is for. The environment variable of `PORT` is `FARTHING_PORT`
 * (names.ts). To add one: a row here, in the group of the part that uses it (`groupOf` passes it on), its use, and `make docs`.
 */
export const SETTINGS = {
  HOST: setting(text, '127.0.0.1', 'Address to listen on.'),
  PORT: setting(integer(0, 65535), '8402', 'Port to listen on; 0 takes a free one.'),
  FRONTS: setting(
    integer(0, 16),
    '0',
    'Event loops that share the port: front threads, which answer the searches of workspaces, beside the thread that does all else. 1: one thread does everything. 0: 1 with fewer than 8 processors, else half of them, at most 16; 1 with several servers, and where another than the native encoder encodes words.',
  ),
  BASE_URL: setting(
    httpUrl,
    '',
    'Public address of the server, in 402s and links. Empty: http://FARTHING_HOST:FARTHING_PORT.',
  ),
  DATA_DIR: setting(text, './data', 'Folder of all stored data.'),
  ...CLUSTER_SETTINGS,
  CACHE_DIR: setting(
    text,
    '',
    'Folder of data that can be rebuilt: verified checksums, label embeddings, optimised model graphs. Empty: `cache` in FARTHING_DATA_DIR.',
  ),
  MODELS_DIR: setting(
    (folder) => folder || OWN_MODELS,
    '',
    'Folder of the models and their manifest. Empty: `models` of this installation.',
  ),
  MODEL_HUB_URL: setting(
    httpUrl,
    'https://huggingface.co',
    'Hub to pull models from, or a mirror with the same paths.',
  ),
  FACILITATOR: setting(
    readFacilitators,
    '',
    'x402 facilitators, separated by commas, in the order in which they are asked: cdp (Coinbase), payai, self (this server, with FARTHING_GAS_KEY_FILE and FARTHING_RPC_URL), or an address. An address may name a user (https://user:password@host). Empty: the local one, which moves no money.',
  ),
  FACILITATOR_HEADER: secret(
    'Header for the first address of FARTHING_FACILITATOR, such as `Authorization: Bearer TOKEN` or `x-secret-key: KEY`. The other facilitators never receive it.',
  ),
  CDP_KEY_ID: setting(
    text,
    '',
    'Id of the CDP API key for FARTHING_FACILITATOR=cdp. Not needed if the key file names it.',
  ),
  CDP_KEY_SECRET: secret(
    'Secret of that key: Ed25519 in base64, ECDSA as PEM, or the key file as CDP has it for download (JSON).',
  ),
  PAYAI_KEY_ID: setting(
    text,
    '',
    'Id of the PayAI API key for FARTHING_FACILITATOR=payai. Empty: its free tier, without a key.',
  ),
  PAYAI_KEY_SECRET: secret('Secret of that key (payai_sk_…).'),
  GAS_KEY: secret(
    'Private key of the wallet that pays the gas of FARTHING_FACILITATOR=self: 64 hexadecimal digits. Not that of FARTHING_PAY_TO, and of one server alone: it needs nothing but some ETH.',
  ),
  GAS_FEE_GWEI_MAX: setting(
    gweiOrNone,
    '',
    'Most that FARTHING_FACILITATOR=self pays for a unit of gas, in gwei. While the network asks for more, nothing is sold. Empty: 0.1 on Base, 1 on Arbitrum, 100 on Avalanche, 1000 on Polygon.',
  ),
  GAS_PRICE_SHARE_MAX: setting(
    integer(1, 100),
    '100',
    'Most that the gas of a settlement may cost, in percent of the price. What would cost more is not sold through FARTHING_FACILITATOR=self.',
  ),
  GAS_COIN_USD: setting(
    dollarsOrNone,
    '',
    'Dollars for one coin of the network’s gas (ETH on Base and Arbitrum, POL, AVAX). Empty: read from Chainlink’s contract on the network; while that is silent, stale or absurd, the most that it is believed to be (10,000 for ETH, 3 for POL, 300 for AVAX).',
  ),
  SETTLED_TOGETHER_MAX: setting(
    integer(1, 50),
    '20',
    'Most payments of plain wallets that FARTHING_FACILITATOR=self settles in one transaction, which takes about a third less gas each. 1: each in its own.',
  ),
  SETTLEMENT_GAS_MAX: setting(
    integer(60_000, 5_000_000),
    '200000',
    'Most units of gas that one settlement of FARTHING_FACILITATOR=self may take. A plain wallet’s takes about 86,000, a contract wallet’s more; 500000 also deploys contract wallets that are not there yet (ERC-6492), for what brings in more than that costs.',
  ),
  SETTLEMENT_BLOCKS: setting(
    integer(1, 12),
    '1',
    'Blocks after which FARTHING_FACILITATOR=self counts a settlement as made: 1 is the block that holds it. More survive a deeper reorganisation, and each takes 2 s on Base.',
  ),
  PAY_TO: setting(
    address,
    '',
    'Wallet that is paid. Required with FARTHING_FACILITATOR. Of this server or its cluster alone: a payment names the wallet, and no server.',
  ),
  NETWORK: setting(
    choice(...COINS.map(({ network }) => network)),
    'eip155:8453',
    `Network of the payments, in USDC: ${COINS.map(({ network, title }) => `${network} (${title})`).join(', ')}. The coins of a testnet are free.`,
  ),
  RPC_URL: setting(
    nodeUrls,
    '',
    'Nodes of FARTHING_NETWORK (JSON-RPC), separated by commas, asked in this order to confirm settlements, and to make them with FARTHING_FACILITATOR=self. Empty: trust the facilitator.',
  ),
  CONFIRM_SETTLEMENTS: setting(
    choice('0', '1'),
    '0',
    '`1`: answer only after FARTHING_RPC_URL shows the settlement. Takes a few RPC calls per payment.',
  ),
  X402_BODY_NETWORK: setting(
    choice('eip155:8453', 'base'),
    'eip155:8453',
    'Network name in the body of a 402: its identifier, or with `base` its name in x402 v1 (`base`, `base-sepolia`), which serves legacy v1 clients.',
  ),
  ALLOW_PLAY_MONEY: setting(
    choice('0', '1'),
    '0',
    '`1` allows the local facilitator with NODE_ENV=production.',
  ),
  LOCAL_BALANCE_USD: setting(parseUsd, '100', 'Play money that the local facilitator gives a new wallet.'),
  SEARCH_PRICE_USD: setting(parseUsd, '0.006', 'Price of a search.', { prices: 'search' }),
  QUESTION_PRICE_USD: setting(parseUsd, '0', 'Price of each further question of a search with several.', {
    prices: 'question',
  }),
  INGEST_PRICE_USD: setting(parseUsd, '0.03', 'Price of an upload.', { prices: 'ingest' }),
  ITEM_PRICE_USD: setting(parseUsd, '0.002', 'Price of an item’s metadata.', { prices: 'item' }),
  WORKSPACE_BASE_USD: setting(parseUsd, '0.01', 'Price of a workspace, once.', { workspace: 'base' }),
  WORKSPACE_MINUTE_USD: setting(parseUsd, '0.0005', 'Price of each minute of a workspace.', {
    workspace: 'perMinute',
  }),
  WORKSPACE_TTL_TOTAL_MINUTES_MAX: setting(
    integer(1, 10_000_000),
    '10080',
    'Most minutes that a workspace may have left.',
    { workspace: 'ttlTotalMinutesMax' },
  ),
  PAYER_INDEX_MINUTES: setting(
    integer(1, 1_000_000),
    '1440',
    'Lifetime of a payer’s index after its last paid upload.',
  ),
  JOURNAL_KEEP_DAYS: setting(integer(1, 36_500), '400', 'How long entries of the ledger are kept.'),
  FILE_BYTES_MAX: setting(integer(1024, 2 ** 40), String(64 * MEBIBYTE), 'Largest file.', {
    extract: 'bytesMax',
    http: 'fileBytesMax',
  }),
  MEDIA_SECONDS_MAX: setting(integer(1, 1_000_000), '14400', 'Longest film or recording.', {
    extract: 'mediaSecondsMax',
  }),
  OCR_LANGUAGES: setting(
    list,
    'auto',
    'Writing in scans. auto: Latin, Chinese and Japanese. Or languages (ISO 639-2, separated by commas), read by Tesseract from the npm packages tesseract.js-core and @tesseract.js-data/…. Empty: no OCR.',
  ),
  FREE_DISK_BYTES_MIN: setting(
    integer(0, 2 ** 40),
    String(256 * MEBIBYTE),
    'Free disk space kept for recording payments; uploads are refused below it. 0: no reserve.',
    { http: 'freeDiskBytesMin' },
  ),
  PREFER_WAIT_SECONDS_MAX: setting(integer(0, 600), '60', 'Longest `Prefer: wait`.', {
    http: 'waitSecondsMax',
  }),
  PROVIDER: setting(
    choice('auto', 'cuda', 'webgpu', 'cpu', 'native'),
    'auto',
    "What runs the models. `auto`: CUDA where it serves with the right numbers, otherwise the processor, with this server's own encoder for every text model that it can run and ONNX Runtime for the others. With any other, the start fails unless it serves: `cpu` is ONNX Runtime on the processor, `native` the own encoder for texts, `webgpu` any GPU.",
  ),
  QUERY_WORKERS: setting(
    integer(0, 64),
    '0',
    'Encoder threads for queries. 0: half of the processors, at most 8; at most 2 with a GPU.',
  ),
  INGEST_WORKERS: setting(
    integer(0, 64),
    '0',
    'Encoder threads for uploads, at a lower priority. 0: one for each processor, at most 8; at most 4 with a GPU.',
  ),
  READERS: setting(
    integer(0, 64),
    '0',
    'Files read at the same time, each in a separate process. 0: half the number of processors, at most eight.',
  ),
  QUERY_WAIT_MS_MAX: setting(
    integer(0, 3_600_000),
    '250',
    'Longest estimated wait of a query for an encoder; others are refused immediately. 0: no limit.',
  ),
  TENANT_REQUESTS_PER_SECOND: setting(
    integer(1, 1_000_000),
    '500',
    'Requests a second of one tenant, with bursts of twice as many.',
    { tenant: 'requestsPerSecond' },
  ),
  OPEN_SHARDS_MAX: setting(integer(1, 512), '256', 'Most open indexes; the least recently used is closed.'),
  BITS_ROWS_MIN: setting(
    rowsOrMeasured,
    'measured',
    'Fewest vectors of one kind in an index for a search to skip rows by a statistical bound, unless it asks for a proof. `measured`: where that was faster (docs/design/index.md).',
  ),
  GRAPH_ROWS_MIN: setting(
    rowsOrMeasured,
    'measured',
    'Fewest vectors of one kind in an index for a graph (HNSW) to be made in the background and searched, unless a search asks for a proof. It takes 540 bytes of disk a vector, and while it is made 650 of memory. `measured`: where that was faster (docs/design/index.md).',
  ),
  PREPAID_USD_MAX: setting(
    parseUsd,
    '100',
    'Most money that one wallet may have prepaid here, in US dollars. 0: nothing is taken in advance; what was can still be spent or refunded.',
  ),
  CONTACT: setting(
    contact,
    '',
    'Mail address or web page of the operator, shown in /openapi.json and /.well-known/security.txt; catalogues of paid services ask for it.',
  ),
  SERVICE_NAME: setting(
    label,
    'Farthing',
    'Name of your service in catalogues of paid services: up to 32 printable ASCII characters.',
    { service: 'name' },
  ),
  SERVICE_TAGS: setting(
    tags,
    '',
    'Up to five tags for catalogues, separated by commas, each of up to 32 printable ASCII characters.',
    { service: 'tags' },
  ),
  SERVICE_ICON_URL: setting(iconUrl, '', 'Address of your service’s icon, for catalogues.', {
    service: 'iconUrl',
  }),
  SERVICE_DESCRIPTION: setting(
    shortText(250),
    '',
    'What your service is, in up to 250 characters. Catalogues show it before the description of each paid operation, and cut the two at 500.',
    { service: 'description' },
  ),
  CORS_ORIGINS: setting(list, '*', 'Origins allowed to call from a browser, separated by commas.'),
  ADMIN_PORT: setting(
    (text) => (text === 'off' ? undefined : integer(0, 65535)(text)),
    'off',
    'Port of the operator’s page, on 127.0.0.1 only: `off`, or 0 for a free one.',
  ),
  CONSOLE: setting(choice('0', '1'), '1', '`0` disables the console at `/`.'),
  LOG_FORMAT: setting(
    choice('auto', 'text', 'json'),
    'auto',
    '`auto`: readable lines on a terminal, JSON elsewhere.',
  ),
  LOG_LEVEL: setting(
    choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Lowest level that is logged. At `info` requests that were refused have a line, at `debug` all have one.',
  ),
  METRICS_PORT: setting(
    portOrOff,
    'off',
    'Port for Prometheus, on FARTHING_METRICS_HOST: `off`, or 0 for a free one. `make run` uses 9402.',
    { metrics: 'port' },
  ),
  METRICS_HOST: setting(text, '127.0.0.1', 'Address of the metrics port, which is unauthenticated.', {
    metrics: 'host',
  }),
  METRICS_NAMES: setting(
    list,
    '',
    'Host names accepted by the metrics port, separated by commas, besides addresses, localhost and FARTHING_METRICS_HOST.',
    { metrics: 'names' },
  ),
  STOP_NOTICE_SECONDS: setting(
    integer(0, 600),
    '0',
    'How long a stopping server accepts new requests while /readyz answers 503, so that load balancers notice.',
  ),
  STOP_SECONDS_MAX: setting(
    integer(1, 3600),
    '30',
    'How long a stop waits for running work; the rest resumes at the next start.',
  ),
  DEMO: setting(
    choice('0', '1'),
    '1',
    '`0` skips the paid round trip of the first start, which a terminal shows.',
  ),
} as const;

type Rows = typeof SETTINGS;
type RowName = keyof Rows;
type Secret = { [N in RowName]: Rows[N] extends { readonly isSecret: true } ? N : never }[RowName];

export type SettingName = RowName | `${Secret}_FILE`;

export type Settings = { readonly [N in RowName]: ReturnType<Rows[N]['read']> } & {
  readonly [N in Secret as `${N}_FILE`]: string;
};

/** Every name of a setting with how it is read: a secret has two, of which the second names a file. */
export const SETTINGS_BY_NAME: Readonly<Record<SettingName, Pick<Setting<unknown>, 'read' | 'initial'>>> =
  Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([name, row]) => [
      [name, row],
      ...('isSecret' in row ? [[`${name}_FILE`, { read: text, initial: '' }]] : []),
    ]),
  ) as never;

export const SETTING_NAMES = Object.keys(SETTINGS_BY_NAME) as readonly SettingName[];

type Group<G extends string> = {
  readonly [N in RowName as Rows[N]['place'] extends Readonly<Record<G, infer F extends string>>
    ? F
    : never]: Settings[N];
};

/** The settings whose rows belong to a group, by their names in it. */
export function groupOf<G extends string>(settings: Settings, group: G): Group<G> {
  const rows = Object.entries<Setting<unknown>>(SETTINGS).filter(([, { place }]) => group in place);
  return Object.fromEntries(
    rows.map(([name, { place }]) => [place[group], settings[name as RowName]]),
  ) as never;
}
