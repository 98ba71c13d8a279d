/**
 * The way of a file through a reader process, from the top; each names only what is below it:
 *
 *     open-extractor ─ cached-open     contents read when a file was opened, until they are asked for
 *       │   └ listening ─ collector    what replies give, with the limits enforced once more
 *     readers                          a pool for each kind of work
 *     reader-pool                      owners take turns for its readers
 *     pooled-reader ─ task-limits      one reader process, kept ready; killed at a limit, and replaced
 *     reader-process ─ read-reply      spawned; every reply is checked
 *     messages                         what goes over the pipe
 *       ║ pipe
 *     reader-bootstrap → reader-main   the reader process: closes what it inherited; loads a program, is confined, performs tasks
 *     reader.ts, picture/query-reader, ocr/recogniser, media/media   the programs
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfinementReport, Settings } from './messages.ts';
import { PooledReader } from './pooled-reader.ts';
import { ReaderPool } from './reader-pool.ts';

export interface ReadersOptions extends Pick<Settings, 'pictureSpec' | 'limits' | 'languages'> {
  /** Emptied at the start. */
  readonly scratchFolder: string;
  /** Files that are read at the same time, at least two. */
  readonly readers: number;
  readonly log: (event: object) => void;
}

interface PoolOptions {
  /** Of its processes, for the log. */
  readonly name: string;
  readonly program: Settings['program'];
  readonly waitingMax: number;
  /** As many processes as files are read at the same time; absent: two. One owner occupies all but one of them. */
  readonly byFiles?: true;
  /** None of its tasks is quick: no process is kept for quick ones. */
  readonly isSlow?: true;
  readonly niceness?: number;
  /** So many of its processes stay, however long they have nothing to do. */
  readonly keeps?: number;
}

/**
 * Ingest gives way to queries, as threads for work that no client waits for do (native/threads). Beside ten busy programs on two
 * processors a reader has 6 % of one; at a niceness of 10 it would have 2 %.
 */
const INGEST = { waitingMax: 1024, niceness: 5 } as const;
/** Sixteen Tenants may have as many uploads at once as each may by default. */
const OPENINGS_WAITING_MAX = 256;

const POOLS = {
  /** For pictures of queries. */
  queries: { name: 'query', program: 'queries', waitingMax: 64, keeps: 1 },
  openings: {
    name: 'open',
    program: 'reader',
    waitingMax: OPENINGS_WAITING_MAX,
    byFiles: true,
    // The second opens small files while another is slow: they would wait for its start.
    keeps: 2,
  },
  mediaOpenings: { name: 'open-media', program: 'media', waitingMax: OPENINGS_WAITING_MAX },
  extractions: { ...INGEST, name: 'extract', program: 'reader', byFiles: true },
  mediaExtractions: { ...INGEST, name: 'extract-media', program: 'media' },
  recogniser: { ...INGEST, name: 'recognise', program: 'recogniser', isSlow: true },
  previews: { ...INGEST, name: 'preview', program: 'reader', waitingMax: 64 },
} satisfies Record<string, PoolOptions>;

/** An owner occupies all but one of them: a file that takes long delays only its own owner's files. */
const READERS_MIN = 2;
/** Most files take less. */
const QUICK_SECONDS = 1;
/** Readers that not every upload needs take 60 to 300 MiB each. A start takes half a second. */
const IDLE_MS_MAX = 10 * 60_000;

/** The processes that read files, by what they read. Each starts with the first task that needs it, or by `warm`. */
export class Readers {
  readonly pools: Readonly<Record<keyof typeof POOLS, ReaderPool>>;

  constructor(options: ReadersOptions) {
    rmSync(options.scratchFolder, { recursive: true, force: true });
    const pools = Object.entries(POOLS).map(([key, pool]) => [key, poolOf(pool, options)]);
    this.pools = Object.fromEntries(pools);
  }

  /**
   * Starts the processes that first tasks need, one after the other: a start takes all of a core. Texts and small pictures are read
   * where they are opened; the rest is read in a job, which may wait for its process, as a second file does that comes at once.
   */
  async warm(): Promise<void> {
    await this.pools.openings.warm();
    await this.pools.queries.warm();
    await this.pools.openings.warm(POOLS.openings.keeps);
  }

  /** How the processes are confined; undefined until one has started. */
  get confinement(): ConfinementReport | undefined {
    return this.pools.openings.confinement ?? this.pools.queries.confinement;
  }

  depths(): { queries: number; opening: number; extracting: number } {
    const { queries, openings, mediaOpenings, extractions, mediaExtractions } = this.pools;
    return {
      queries: queries.depth,
      opening: openings.depth + mediaOpenings.depth,
      extracting: extractions.depth + mediaExtractions.depth,
    };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool) => pool.close()));
  }
}

function poolOf(pool: PoolOptions, options: ReadersOptions): ReaderPool {
  const { log, scratchFolder, readers, languages, pictureSpec, limits } = options;
  const { program, niceness = 0, waitingMax } = pool;
  const count = Math.max(READERS_MIN, pool.byFiles ? readers : 0);
  const all = Array.from({ length: count }, (_, index) => {
    const name = `${pool.name}-${index}`;
    const scratch = join(scratchFolder, name);
    mkdirSync(scratch, { recursive: true, mode: 0o700 });
    const idleMsMax = index < (pool.keeps ?? 0) ? undefined : IDLE_MS_MAX;
    const settings = { program, languages, pictureSpec, limits, scratch, niceness };
    return new PooledReader({ name, settings, log, idleMsMax });
  });
  return new ReaderPool({ readers: all, waitingMax, ...(!pool.isSlow && { quickSeconds: QUICK_SECONDS }) });
}
