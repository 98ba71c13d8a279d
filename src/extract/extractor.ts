import { mkdirSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Block,
  Extracted,
  ExtractLimits,
  FileInfo,
  PictureContent,
  PictureSpec,
  UnpackedMember,
} from '../domain/document.ts';
import { type ErrorCode, errorCode, FarthingError } from '../domain/error.ts';
import type { Preview } from '../domain/preview.ts';
import { languagePackage, missingLanguages } from './ocr/tesseract.ts';
import { Collector, Sounds } from './process/collector.ts';
import { Unpacked } from './process/member-writer.ts';
import type { ConfinementReport, Settings } from './process/messages.ts';
import { ReaderPool } from './process/reader-pool.ts';
import { ReaderQueue } from './process/warm-reader.ts';

/** Reads strangers' files, in child processes that can do nothing else. */
export interface Extractor {
  /**
   * Recognises the type by content, checks limits, opens the file: pages counted, the first page or frame decoded.
   * @throws media_type_unsupported, file_empty, file_too_large, file_corrupt, file_encrypted, document_too_large,
   * extraction_timeout, extraction_failed, overloaded.
   */
  open(path: string, hint: { name?: string; tenant?: string }): Promise<FileInfo>;
  /** Reads all of an opened file. @throws as open; the signal's reason when it is aborted. */
  extract(path: string, opened: FileInfo, options?: ExtractOptions): Promise<Extracted>;
  /** Writes the files inside an opened archive or mail, each to where `target` says for its number. @throws as extract. */
  unpack(path: string, opened: FileInfo, options: UnpackOptions): Promise<readonly UnpackedMember[]>;
  /**
   * A query's picture, in the form that the picture model in use wants, or another one. Its child process never reads
   * anything else. @throws image_unreadable, overloaded.
   */
  decodePicture(bytes: Uint8Array, spec?: PictureSpec): Promise<PictureContent>;
  /** A small picture of an opened file, of one of its pages (from 1), or of a moment of it. @throws preview_unavailable, field_invalid, and as open. */
  preview(path: string, of: { mediaType: string; page: number; timeS?: number }): Promise<Preview>;
  /** How the child processes are confined; undefined until one has started. */
  confinement(): ConfinementReport | undefined;
  /** Files and pictures that wait or are being read. */
  depths(): { queries: number; opening: number; extracting: number };
  close(): Promise<void>;
}

export interface ExtractOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (fraction: number) => void;
  /** Asks for the sound of a recording: pieces of 16-bit samples, SOUND_RATE a second. The reader waits for each. */
  readonly onSound?: (samples: Int16Array) => Promise<void>;
  /** False: what would have to be recognised in pictures is left out. */
  readonly recognise?: boolean;
}

export interface UnpackOptions {
  readonly target: (index: number) => string;
  readonly signal?: AbortSignal;
  /** Hears how many are written. */
  readonly onMember?: (count: number) => void;
}

export interface ExtractorOptions {
  /** What the picture model wants; undefined without one: pictures then have a fingerprint and no pixels. */
  readonly pictureSpec: PictureSpec | undefined;
  readonly limits: ExtractLimits;
  /** Folder of this Extractor alone, on the file system of the uploads; emptied at start. */
  readonly scratchFolder: string;
  /** Languages whose writing is recognised in scans (ISO 639-2); empty: none. */
  readonly languages?: readonly string[];
  /** Files that are read at the same time. */
  readonly readers?: number;
  readonly log: (event: object) => void;
}

const QUERIES_WAITING_MAX = 64;
const OPENINGS_WAITING_MAX = 64;
const PREVIEWS_WAITING_MAX = 64;
/** Two, of which one Tenant takes one at most: a file made to last holds up its own Tenant alone. */
const OPENERS_MIN = 2;
const EXTRACTIONS_WAITING_MAX = 1024;
/** Ingest gives way to queries: as the encoder's ingest workers do. */
const INGEST_NICENESS = 10;

export function openExtractor(options: ExtractorOptions): Extractor {
  return new ChildExtractor(options);
}

class ChildExtractor implements Extractor {
  readonly #limits: ExtractLimits;
  readonly #pictureSpec: PictureSpec | undefined;
  readonly #log: (event: object) => void;
  readonly #queries: ReaderQueue;
  /** Pictures of queries in forms that former models want: started when the first one comes. */
  readonly #otherQueries = new Map<string, ReaderQueue>();
  readonly #queriesFor: (spec: PictureSpec | undefined, index: number) => ReaderQueue;
  readonly #openings: ReaderPool;
  readonly #extractions: readonly ReaderQueue[];
  /** Its child starts with the first preview that is asked for. */
  readonly #previews: ReaderQueue;
  /** Started when the first scan comes; undefined without languages. */
  readonly #recogniser: ReaderQueue | undefined;
  /** Started when the first recording comes. */
  readonly #mediaOpenings: ReaderQueue;
  readonly #mediaExtractions: ReaderQueue;

  constructor(options: ExtractorOptions) {
    const { pictureSpec, limits, scratchFolder, languages = [], readers = 1, log } = options;
    const missing = missingLanguages(languages);
    if (missing.length > 0)
      throw new Error(
        `install ${missing.map(languagePackage).join(' ')} with npm, or leave the language out`,
      );
    this.#limits = limits;
    this.#pictureSpec = pictureSpec;
    this.#log = log;
    rmSync(scratchFolder, { recursive: true, force: true });
    const lane = (
      name: string,
      program: Settings['program'],
      niceness: number,
      waitingMax = EXTRACTIONS_WAITING_MAX,
      spec = pictureSpec,
    ): ReaderQueue => {
      const scratch = join(scratchFolder, name);
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      const settings = { program, languages, pictureSpec: spec, limits, scratch, niceness };
      return new ReaderQueue({ name, waitingMax, log, settings });
    };
    this.#queriesFor = (spec, index) => lane(`query-${index}`, 'reader', 0, QUERIES_WAITING_MAX, spec);
    this.#queries = lane('query', 'reader', 0, QUERIES_WAITING_MAX);
    const openers = Array.from({ length: Math.max(OPENERS_MIN, readers) }, (_, index) =>
      lane(`open-${index}`, 'reader', 0),
    );
    this.#openings = new ReaderPool(openers, OPENINGS_WAITING_MAX);
    this.#extractions = Array.from({ length: readers }, (_, index) =>
      lane(`extract-${index}`, 'reader', INGEST_NICENESS),
    );
    this.#previews = lane('preview', 'reader', INGEST_NICENESS, PREVIEWS_WAITING_MAX);
    this.#mediaOpenings = lane('open-media', 'media', 0, OPENINGS_WAITING_MAX);
    this.#mediaExtractions = lane('extract-media', 'media', INGEST_NICENESS);
    if (languages.length > 0) this.#recogniser = lane('recognise', 'recogniser', INGEST_NICENESS);
    void this.#warm();
  }

  async open(path: string, { name, tenant = '' }: { name?: string; tenant?: string }): Promise<FileInfo> {
    const { size } = await stat(path);
    if (size === 0) throw new FarthingError('file_empty', 'The file has 0 bytes.');
    const limit = this.#limits.bytesMax;
    if (size > limit)
      throw new FarthingError('file_too_large', `Send files of at most ${limit} bytes.`, {
        facts: { bytes: size, limit_bytes: limit },
      });
    const { opened } = await this.#openings.run(tenant, {
      task: { task: 'open', path, ...(name !== undefined && { name }) },
      file: path,
      secondsMax: this.#limits.openSecondsMax,
      onReply: () => undefined,
    });
    if (!opened) throw new FarthingError('extraction_failed', 'The reader gave no answer.');
    return isRecording(opened) ? this.#openRecording(path, opened.mediaType) : opened;
  }

  async #openRecording(path: string, mediaType: string): Promise<FileInfo> {
    const { opened } = await this.#mediaOpenings.run({
      task: { task: 'open', path, mediaType },
      file: path,
      secondsMax: this.#limits.openSecondsMax,
      onReply: () => undefined,
    });
    if (!opened) throw new FarthingError('extraction_failed', 'The reader gave no answer.');
    return opened;
  }

  async extract(
    path: string,
    opened: FileInfo,
    { signal, onProgress, onSound, recognise = true }: ExtractOptions = {},
  ): Promise<Extracted> {
    const collector = new Collector(this.#limits, this.#pictureSpec, onProgress);
    const sounds = new Sounds(this.#limits, onSound);
    const lane = isRecording(opened) ? this.#mediaExtractions : this.#leastBusy;
    const { title, textless = [] } = await lane.run({
      task: { task: 'extract', path, mediaType: opened.mediaType, ...(onSound && { sound: true }) },
      file: path,
      secondsMax: this.#limits.extractSecondsMax,
      signal,
      onReply: (reply) => {
        if (reply.reply === 'sound') return sounds.take(reply.samples);
        collector.take(reply);
      },
    });
    await sounds.finish();
    if (recognise) await this.#recognise(path, opened, textless, collector, signal);
    const named = title ?? opened.title;
    return {
      opened,
      ...(named !== undefined && { title: named }),
      blocks: inReadingOrder(collector.blocks),
      pictures: collector.pictures,
    };
  }

  async unpack(
    path: string,
    { mediaType, members = 0 }: FileInfo,
    { target, signal, onMember = () => undefined }: UnpackOptions,
  ): Promise<readonly UnpackedMember[]> {
    const unpacked = new Unpacked(members, this.#limits, target, onMember);
    try {
      await this.#leastBusy.run({
        task: { task: 'unpack', path, mediaType },
        file: path,
        secondsMax: this.#limits.extractSecondsMax,
        signal,
        onReply: (reply) => (reply.reply === 'member' ? unpacked.take(reply) : undefined),
      });
      return await unpacked.finish();
    } finally {
      await unpacked.close();
    }
  }

  get #leastBusy(): ReaderQueue {
    return this.#extractions.reduce((least, other) => (other.depth < least.depth ? other : least));
  }

  /** Text of pages that have none, page by page: other files' pages come between. A page that fails stays without text. */
  async #recognise(
    path: string,
    { mediaType }: FileInfo,
    pages: readonly number[],
    collector: Collector,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!this.#recogniser) return;
    const taken = pages.slice(0, this.#limits.recognisedPagesMax);
    if (taken.length < pages.length)
      this.#log({ event: 'pages_not_recognised', pages: pages.length, limit_pages: taken.length });
    for (const [index, page] of taken.entries()) {
      try {
        await this.#recogniser.run({
          task: { task: 'recognise', path, mediaType, page },
          file: path,
          secondsMax: this.#limits.recogniseSecondsMax,
          signal,
          onReply: (reply) => collector.take(reply),
        });
      } catch (error) {
        const code = errorCode(error);
        if (signal?.aborted || code === undefined || !PAGE_FAULTS.includes(code)) throw error;
        this.#log({ event: 'page_not_recognised', page, code });
      }
      collector.progress((index + 1) / taken.length);
    }
  }

  /** A former model's form of pictures has a child of its own, for as long as the server runs. */
  #queriesOf(spec: PictureSpec | undefined): ReaderQueue {
    const key = JSON.stringify(spec);
    if (key === JSON.stringify(this.#pictureSpec)) return this.#queries;
    let lane = this.#otherQueries.get(key);
    if (!lane) {
      lane = this.#queriesFor(spec, this.#otherQueries.size);
      this.#otherQueries.set(key, lane);
    }
    return lane;
  }

  async decodePicture(bytes: Uint8Array, spec = this.#pictureSpec): Promise<PictureContent> {
    const collector = new Collector(this.#limits, spec, undefined);
    try {
      await this.#queriesOf(spec).run({
        task: { task: 'picture' },
        body: bytes,
        secondsMax: this.#limits.querySecondsMax,
        onReply: (reply) => collector.take(reply),
      });
    } catch (error) {
      const code = errorCode(error);
      if (code === 'overloaded' || code === 'interrupted' || code === 'internal') throw error;
      const { detail, facts } = error as Partial<FarthingError>;
      throw new FarthingError(
        'image_unreadable',
        detail ?? 'Send a picture: JPEG, PNG, WebP, GIF, TIFF, AVIF, SVG or uncompressed BMP.',
        { facts: { ...facts, field: 'image_b64' }, cause: error },
      );
    }
    const picture = collector.pictures[0];
    if (!picture)
      throw new FarthingError('image_unreadable', 'The picture holds nothing.', {
        facts: { field: 'image_b64' },
      });
    return picture;
  }

  async preview(path: string, of: { mediaType: string; page: number; timeS?: number }): Promise<Preview> {
    let preview: Preview | undefined;
    const lane = of.mediaType.startsWith('video/') ? this.#mediaOpenings : this.#previews;
    await lane.run({
      task: { task: 'preview', path, ...of },
      file: path,
      secondsMax: this.#limits.openSecondsMax,
      onReply: (reply) => {
        if (reply.reply === 'preview') preview = reply.preview;
      },
    });
    if (!preview) throw new FarthingError('extraction_failed', 'The reader gave no answer.');
    return preview;
  }

  confinement(): ConfinementReport | undefined {
    return this.#openings.confinement ?? this.#queries.confinement;
  }

  depths(): { queries: number; opening: number; extracting: number } {
    const all = [...this.#extractions, this.#mediaExtractions];
    const extracting = all.reduce((sum, lane) => sum + lane.depth, 0);
    const opening = this.#openings.depth + this.#mediaOpenings.depth;
    return { queries: this.#queries.depth, opening, extracting };
  }

  /**
   * One after the other: a start is all work, and the server has other things to do at its own start. Further readers start when
   * the first ones are busy.
   */
  async #warm(): Promise<void> {
    const [first, second] = this.#openings.lanes;
    for (const lane of [first!, this.#queries, this.#extractions[0]!, second!]) await lane.warm();
  }

  async close(): Promise<void> {
    const lanes = [
      this.#queries,
      ...this.#otherQueries.values(),
      this.#openings,
      this.#previews,
      ...this.#extractions,
      this.#mediaOpenings,
      this.#mediaExtractions,
    ];
    await Promise.all(
      [...lanes, ...(this.#recogniser ? [this.#recogniser] : [])].map((lane) => lane.close()),
    );
  }
}

function isRecording({ kind }: FileInfo): boolean {
  return kind === 'video' || kind === 'audio';
}

/** Faults of one page, not of the server. */
const PAGE_FAULTS: readonly ErrorCode[] = ['extraction_timeout', 'extraction_failed', 'file_corrupt'];

/** Recognised pages come after all others: blocks in the order of their pages again, those without a page first. */
function inReadingOrder(blocks: readonly Block[]): Block[] {
  return [...blocks].sort((a, b) => (a.page ?? 0) - (b.page ?? 0));
}
