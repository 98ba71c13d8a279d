import { mkdirSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Block,
  Extracted,
  ExtractLimits,
  Opened,
  PictureContent,
  PictureSpec,
} from '../domain/document.ts';
import { errorCode, FarthingError } from '../domain/error.ts';
import type { Preview } from '../domain/preview.ts';
import { Lane, type LaneOptions } from './lane.ts';
import type { ConfinementReport, Reply } from './messages.ts';

/** Reads strangers' files, in child processes that can do nothing else. */
export interface Extractor {
  /**
   * Recognises the type by content, checks limits, opens the file: pages counted, the first page or frame decoded.
   * @throws media_type_unsupported, file_empty, file_too_large, file_corrupt, file_encrypted, document_too_large,
   * extraction_timeout, extraction_failed, overloaded.
   */
  open(path: string, hint: { name?: string }): Promise<Opened>;
  /** Reads all of an opened file. @throws as open; the signal's reason when it is aborted. */
  extract(
    path: string,
    opened: Opened,
    options?: { signal?: AbortSignal; onProgress?: (fraction: number) => void },
  ): Promise<Extracted>;
  /** A query's picture. Its child process never reads anything else. @throws image_unreadable, overloaded. */
  decodePicture(bytes: Uint8Array): Promise<PictureContent>;
  /** A small picture of an opened file, or of one of its pages (from 1). @throws preview_unavailable, field_invalid, and as open. */
  preview(path: string, of: { mediaType: string; page: number }): Promise<Preview>;
  /** How the child processes are confined; undefined until one has started. */
  confinement(): ConfinementReport | undefined;
  /** Files and pictures that wait or are being read. */
  depths(): { queries: number; opening: number; extracting: number };
  close(): Promise<void>;
}

export interface ExtractorOptions {
  /** What the picture model wants; undefined without one: pictures then have a fingerprint and no pixels. */
  readonly pictureSpec: PictureSpec | undefined;
  readonly limits: ExtractLimits;
  /** Folder of this Extractor alone, on the file system of the uploads; emptied at start. */
  readonly scratchFolder: string;
  /** Files that are read at the same time. */
  readonly extractChildren?: number;
  readonly log: (event: object) => void;
}

const QUERIES_WAITING_MAX = 64;
const OPENINGS_WAITING_MAX = 64;
const PREVIEWS_WAITING_MAX = 64;
const EXTRACTIONS_WAITING_MAX = 1024;
/** Ingest gives way to queries: as the encoder's ingest workers do. */
const INGEST_NICENESS = 10;

export function openExtractor(options: ExtractorOptions): Extractor {
  return new ChildExtractor(options);
}

class ChildExtractor implements Extractor {
  readonly #limits: ExtractLimits;
  readonly #pictureSpec: PictureSpec | undefined;
  readonly #queries: Lane;
  readonly #openings: Lane;
  readonly #extractions: readonly Lane[];
  /** Its child starts with the first preview that is asked for. */
  readonly #previews: Lane;

  constructor({ pictureSpec, limits, scratchFolder, extractChildren = 1, log }: ExtractorOptions) {
    this.#limits = limits;
    this.#pictureSpec = pictureSpec;
    rmSync(scratchFolder, { recursive: true, force: true });
    const lane = (name: string, waitingMax: number, niceness: number): Lane => {
      const scratch = join(scratchFolder, name);
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      const laneOptions: LaneOptions = {
        name,
        waitingMax,
        log,
        settings: { pictureSpec, limits, scratch, niceness },
      };
      return new Lane(laneOptions);
    };
    this.#queries = lane('query', QUERIES_WAITING_MAX, 0);
    this.#openings = lane('open', OPENINGS_WAITING_MAX, 0);
    this.#extractions = Array.from({ length: extractChildren }, (_, index) =>
      lane(`extract-${index}`, EXTRACTIONS_WAITING_MAX, INGEST_NICENESS),
    );
    this.#previews = lane('preview', PREVIEWS_WAITING_MAX, INGEST_NICENESS);
    void this.#warm();
  }

  async open(path: string, { name }: { name?: string }): Promise<Opened> {
    const { size } = await stat(path);
    if (size === 0) throw new FarthingError('file_empty', 'The file has 0 bytes.');
    const limit = this.#limits.bytesMax;
    if (size > limit)
      throw new FarthingError('file_too_large', `Send files of at most ${limit} bytes.`, {
        facts: { bytes: size, limit_bytes: limit },
      });
    const { opened } = await this.#openings.run({
      task: { task: 'open', path, ...(name !== undefined && { name }) },
      file: path,
      secondsMax: this.#limits.openSecondsMax,
      onReply: () => undefined,
    });
    if (!opened) throw new FarthingError('extraction_failed', 'The reader gave no answer.');
    return opened;
  }

  async extract(
    path: string,
    opened: Opened,
    { signal, onProgress }: { signal?: AbortSignal; onProgress?: (fraction: number) => void } = {},
  ): Promise<Extracted> {
    const collector = new Collector(this.#limits, this.#pictureSpec, onProgress);
    const lane = this.#extractions.reduce((least, other) => (other.depth < least.depth ? other : least));
    const { title } = await lane.run({
      task: { task: 'extract', path, mediaType: opened.mediaType },
      file: path,
      secondsMax: this.#limits.extractSecondsMax,
      signal,
      onReply: (reply) => collector.take(reply),
    });
    const named = title ?? opened.title;
    return {
      opened,
      ...(named !== undefined && { title: named }),
      blocks: collector.blocks,
      pictures: collector.pictures,
    };
  }

  async decodePicture(bytes: Uint8Array): Promise<PictureContent> {
    const collector = new Collector(this.#limits, this.#pictureSpec, undefined);
    try {
      await this.#queries.run({
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
        detail ?? 'Send a JPEG, PNG, WebP or uncompressed BMP picture.',
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

  async preview(path: string, of: { mediaType: string; page: number }): Promise<Preview> {
    let preview: Preview | undefined;
    await this.#previews.run({
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
    const extracting = this.#extractions.reduce((sum, lane) => sum + lane.depth, 0);
    return { queries: this.#queries.depth, opening: this.#openings.depth, extracting };
  }

  /** One after the other: a start is all work, and the server has other things to do at its own start. */
  async #warm(): Promise<void> {
    for (const lane of [this.#openings, this.#queries, ...this.#extractions]) await lane.warm();
  }

  async close(): Promise<void> {
    await Promise.all(
      [this.#queries, this.#openings, this.#previews, ...this.#extractions].map((lane) => lane.close()),
    );
  }
}

/** Gathers what a child sends, within the limits: the child keeps them too, unless it was taken over. */
class Collector {
  readonly blocks: Block[] = [];
  readonly pictures: PictureContent[] = [];
  readonly #limits: ExtractLimits;
  readonly #pixelBytes: number;
  readonly #onProgress: ((fraction: number) => void) | undefined;
  #characters = 0;

  constructor(
    limits: ExtractLimits,
    spec: PictureSpec | undefined,
    onProgress: ((fraction: number) => void) | undefined,
  ) {
    this.#limits = limits;
    this.#pixelBytes = spec ? spec.width * spec.height * 3 : 0;
    this.#onProgress = onProgress;
  }

  take(reply: Reply): void {
    if (reply.reply === 'progress') this.#onProgress?.(reply.fraction);
    else if (reply.reply === 'blocks') this.#takeBlocks(reply.blocks);
    else if (reply.reply === 'picture') this.#takePicture(reply.picture);
  }

  #takeBlocks(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#characters += block.text.length;
      this.blocks.push(block);
    }
    if (this.#characters > this.#limits.charactersMax * 2 || this.blocks.length > this.#limits.charactersMax)
      throw broken();
  }

  #takePicture(picture: PictureContent): void {
    if (picture.pixels.rgb.length !== this.#pixelBytes || this.pictures.length > this.#limits.pagePicturesMax)
      throw broken();
    this.pictures.push(picture);
  }
}

function broken(): FarthingError {
  return new FarthingError('extraction_failed', 'The reader gave more than it may.');
}
