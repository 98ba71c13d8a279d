/** One row of docs/measured.md: which figures of the records it shows. */
export interface MeasuredRow {
  readonly what: string;
  readonly bench: string;
  /** Metrics by what stands before each in the row; one that stands alone is named by an empty text. */
  readonly figures: Readonly<Record<string, string>>;
  /** Metrics of others in the same run, where a figure has no peer of its own. */
  readonly peers?: Readonly<Record<string, string>>;
  /** Only records whose command contains this. */
  readonly command?: string;
  /** The command that measures it, where `make bench NAME=…` with its defaults does not. */
  readonly run?: string;
  /** Also in the README. */
  readonly readme?: boolean;
}

const index = (rows: number) => (engine: string, figure: string) =>
  `engines/${engine}, rows ${rows}/${figure}`;
const [tenThousand, hundredThousand] = [index(10_000), index(100_000)];

export const MEASURED: readonly MeasuredRow[] = [
  {
    what: 'search of a workspace, one client, ten hits, p50',
    bench: 'path',
    figures: { 'all families': 'all families, 10 hits/p50_ms', 'exact words': 'raw, 10 hits/p50_ms' },
    peers: { 'a bare HTTP exchange': 'bare HTTP exchange/p50_ms' },
    readme: true,
  },
  {
    what: 'the same paid; an upload of one text until it is searchable, p50',
    bench: 'path',
    figures: { paid: 'paid, all families, 10 hits/p50_ms', upload: 'upload of one text/p50_ms' },
  },
  {
    what: 'the whole job, paid search over 1,200 texts, one client',
    bench: 'whole',
    figures: { p50: 'search-1/p50_ms', p99: 'search-1/p99_ms', 'p99 during uploads': 'search-ingest/p99_ms' },
    readme: true,
  },
  {
    what: 'the whole job, 16 clients, searches and uploads a second',
    bench: 'whole',
    figures: { searches: 'search-16/per_second', uploads: 'ingest/per_second' },
  },
  {
    what: 'the index alone, 10,000 rows, best 30, p50',
    bench: 'index',
    figures: { '': tenThousand('farthing', 'p50_ms'), recall: tenThousand('farthing', 'recall_at_30') },
    peers: {
      'usearch exact': tenThousand('usearch exact', 'p50_ms'),
      'sqlite-vec': tenThousand('sqlite-vec', 'p50_ms'),
      LanceDB: tenThousand('LanceDB flat', 'p50_ms'),
    },
  },
  {
    what: 'the index alone, 100,000 rows, best 30, p50',
    bench: 'index',
    figures: {
      '': hundredThousand('farthing', 'p50_ms'),
      recall: hundredThousand('farthing', 'recall_at_30'),
    },
    peers: {
      'usearch exact': hundredThousand('usearch exact', 'p50_ms'),
      'sqlite-vec': hundredThousand('sqlite-vec', 'p50_ms'),
      LanceDB: hundredThousand('LanceDB flat', 'p50_ms'),
      'usearch HNSW': hundredThousand('usearch HNSW', 'p50_ms'),
      'its recall': hundredThousand('usearch HNSW', 'recall_at_30'),
    },
    readme: true,
  },
  {
    what: 'exact words over 100,000 passages, best 10, p50',
    bench: 'words',
    figures: { '': 'words/rows 100000/depths/k 10/p50_ms' },
  },
  {
    what: 'one durable small item, p50',
    bench: 'durable',
    figures: { '': 'appends/small_item_p50_ms' },
  },
  {
    what: 'the encoder alone, processor time',
    bench: 'encode',
    figures: { '10 tokens': 'encoders/10 tokens/processor', '256 tokens': 'encoders/256 tokens/processor' },
  },
  {
    what: 'searches by meaning, 16 clients, as a share of what the bare encoder does',
    bench: 'encode',
    figures: { '': 'queries/share_of_bare' },
  },
  {
    what: 'SciFact, nDCG@10',
    bench: 'quality',
    figures: {
      'exact words': 'sets/scifact/raw/ndcg_at_10',
      meaning: 'sets/scifact/text_semantic/ndcg_at_10',
      fused: 'sets/scifact/fused/ndcg_at_10',
    },
    readme: true,
  },
  {
    what: 'pictures, the right one first',
    bench: 'quality',
    figures: {
      'by a changed copy': 'sets/photos/by_picture/overall',
      'by caption': 'sets/photos/by_caption/r_at_1',
    },
  },
  {
    what: 'calibration error of the first hit, mean over sets',
    bench: 'calibration',
    figures: { fused: 'views/fused/ece_mean' },
  },
  {
    what: '1,000 kills under paid traffic',
    bench: 'crash',
    run: 'make crash KILLS=1000 SEED=11',
    figures: {
      purchases: 'purchases',
      charged: 'charges',
      twice: 'charged_twice',
      'answered unpaid': 'answered_unpaid',
    },
    readme: true,
  },
  {
    what: 'three servers: a workspace is with no server after a kill, p50 of 50',
    bench: 'takeover',
    figures: { killed: 'unavailable_ms/killed', stopped: 'unavailable_ms/stopped' },
  },
  {
    what: 'ready after a start',
    bench: 'start',
    figures: { first: 'first_ms', later: 'later_ms' },
  },
  {
    what: 'console, first view usable',
    bench: 'console',
    figures: { '': 'first_view/usable_ms' },
  },
];
