import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtractLimits, PictureSpec } from '@farthing/protocol/document';
import type { ConfinementReport, Settings } from './messages.ts';
import { ReaderPool } from './reader-pool.ts';
import { WarmReader } from './warm-reader.ts';

export interface ReaderPoolsOptions {
  readonly pictureSpec: PictureSpec | undefined;
  readonly limits: ExtractLimits;
  /** Emptied at the start. */
  readonly scratchFolder: string;
  readonly languages: readonly string[];
  /** Files that are read at the same time, at least two. */
  readonly readers: number;
  readonly log: (event: object) => void;
}

interface PoolOptions {
  readonly program: Settings['program'];
  readonly waitingMax: number;
  /** Processes; absent: two. One owner occupies all but one of them. */
  readonly readers?: number;
  /** Undefined: no reader is kept for quick tasks, since none is quick. */
  readonly quickSeconds?: number | undefined;
  readonly niceness?: number;
  /** The first of its processes stays, however long it has nothing to do. */
  readonly keepsOne?: boolean;
}

const QUERIES_WAITING_MAX = 64;
/** Sixteen Tenants may have as many uploads at once as each may by default. */
const OPENINGS_WAITING_MAX = 256;
const PREVIEWS_WAITING_MAX = 64;
const EXTRACTIONS_WAITING_MAX = 1024;
/** An owner occupies all but one of them: a file that takes long delays only its own owner's files. */
const READERS_MIN = 2;
/** Most files take less. */
const QUICK_SECONDS = 1;
/** Ingest gives way to queries, as the encoder's ingest workers do. */
const INGEST_NICENESS = 10;
/** Readers that not every upload needs take 60 to 300 MiB each. A start takes half a second. */
const IDLE_MS_MAX = 10 * 60_000;

/** The processes that read files, by what they read. Each starts with the first task that needs it, or by `warm`. */
export class ReaderPools {
  /** For pictures of queries. */
  readonly queries: ReaderPool;
  readonly openings: ReaderPool;
  readonly extractions: ReaderPool;
  readonly previews: ReaderPool;
  readonly mediaOpenings: ReaderPool;
  readonly mediaExtractions: ReaderPool;
  /** Undefined without languages. */
  readonly recogniser: ReaderPool | undefined;
  readonly #options: ReaderPoolsOptions;

  constructor(options: ReaderPoolsOptions) {
    const { scratchFolder, languages, readers } = options;
    this.#options = options;
    rmSync(scratchFolder, { recursive: true, force: true });
    this.queries = this.#pool('query', {
      program: 'queries',
      waitingMax: QUERIES_WAITING_MAX,
      keepsOne: true,
    });
    this.openings = this.#pool('open', {
      program: 'reader',
      waitingMax: OPENINGS_WAITING_MAX,
      readers,
      keepsOne: true,
    });
    this.mediaOpenings = this.#pool('open-media', {
      program: 'media',
      waitingMax: OPENINGS_WAITING_MAX,
    });
    const ingest = { waitingMax: EXTRACTIONS_WAITING_MAX, niceness: INGEST_NICENESS };
    this.extractions = this.#pool('extract', { ...ingest, program: 'reader', readers });
    this.mediaExtractions = this.#pool('extract-media', { ...ingest, program: 'media' });
    if (languages.length > 0)
      this.recogniser = this.#pool('recognise', {
        ...ingest,
        program: 'recogniser',
        quickSeconds: undefined,
      });
    this.previews = this.#pool('preview', {
      program: 'reader',
      waitingMax: PREVIEWS_WAITING_MAX,
      niceness: INGEST_NICENESS,
    });
  }

  /**
   * Starts the processes that first tasks need, one after the other: a start takes all of a core. Texts and small pictures are read
   * where they are opened; the rest is read in a job, which may wait for its process, as a second file does that comes at once.
   */
  async warm(): Promise<void> {
    await this.openings.warm();
    await this.queries.warm();
  }

  /** How the processes are confined; undefined until one has started. */
  get confinement(): ConfinementReport | undefined {
    return this.openings.confinement ?? this.queries.confinement;
  }

  depths(): { queries: number; opening: number; extracting: number } {
    return {
      queries: this.queries.depth,
      opening: this.openings.depth + this.mediaOpenings.depth,
      extracting: this.extractions.depth + this.mediaExtractions.depth,
    };
  }

  async close(): Promise<void> {
    const pools = [
      this.queries,
      this.openings,
      this.mediaOpenings,
      this.extractions,
      this.mediaExtractions,
      this.recogniser,
      this.previews,
    ];
    await Promise.all(pools.map((pool) => pool?.close()));
  }

  #pool(
    name: string,
    { program, readers = READERS_MIN, niceness = 0, keepsOne = false, ...pool }: PoolOptions,
  ): ReaderPool {
    const { limits, scratchFolder, languages, pictureSpec, log } = this.#options;
    const count = Math.max(READERS_MIN, readers);
    const warmReaders = Array.from({ length: count }, (_, index) => {
      const readerName = `${name}-${index}`;
      const scratch = join(scratchFolder, readerName);
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      const settings = { program, languages, pictureSpec, limits, scratch, niceness };
      return new WarmReader({
        name: readerName,
        settings,
        log,
        ...(!(keepsOne && index === 0) && { idleMsMax: IDLE_MS_MAX }),
      });
    });
    return new ReaderPool({ readers: warmReaders, quickSeconds: QUICK_SECONDS, ...pool });
  }
}
