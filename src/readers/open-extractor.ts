import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type {
  Block,
  Extracted,
  ExtractLimits,
  FileInfo,
  PictureContent,
  PictureSpec,
  UnpackedMember,
} from '@farthing/protocol/document';
import { type ErrorCode, errorCode, FarthingError } from '@farthing/protocol/error';
import { addNotRead, type NotRead, type UnreadReason } from '@farthing/protocol/file/not-read';
import type { Preview } from '@farthing/protocol/file/preview';
import { Owners } from '@farthing/queues/owners';
import type {
  ExtractOptions,
  Extractor,
  ExtractorOptions,
  OpenOptions,
  PreviewTask,
  QueryPictureOptions,
  UnpackOptions,
} from './extractor.ts';
import { languageFault } from './ocr/languages.ts';
import { PICTURE_NAMES } from './picture/picture-types.ts';
import { CachedOpens, type ReadFile } from './process/cached-open.ts';
import { Collector, MemberWriter } from './process/collector.ts';
import { listen } from './process/listening.ts';
import type { ConfinementReport, Reply, Task } from './process/messages.ts';
import { isPlainText, TEXT_SECONDS } from './process/plain-text.ts';
import type { ReaderPool } from './process/reader-pool.ts';
import { Readers } from './process/readers.ts';

/** For work whose Tenant is not stated. */
const ANY_TENANT = '';

interface Opening {
  readonly tenant: string;
  /** Of the file, in bytes. */
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

export function openExtractor(options: ExtractorOptions): Extractor {
  return new ProcessExtractor(options);
}

class ProcessExtractor implements Extractor {
  readonly #limits: ExtractLimits;
  readonly #pictureSpec: PictureSpec | undefined;
  readonly #log: (event: object) => void;
  readonly #readers: Readers;
  readonly #recognises: boolean;
  readonly #owners: Pick<Owners, 'of'>;
  readonly #listeningTurnMs: number | undefined;
  readonly #cachedOpens = new CachedOpens();

  constructor(options: ExtractorOptions) {
    const { limits, pictureSpec, languages = [], readers = 1, log } = options;
    const fault = languageFault(languages);
    if (fault !== undefined) throw new Error(fault);
    this.#limits = limits;
    this.#pictureSpec = pictureSpec;
    this.#log = log;
    this.#listeningTurnMs = options.listeningTurnMs;
    this.#owners = options.owners ?? new Owners();
    this.#recognises = languages.length > 0;
    this.#readers = new Readers({ ...options, languages, readers });
  }

  async open(path: string, { name, tenant = ANY_TENANT, signal }: OpenOptions): Promise<FileInfo> {
    // The file has just been written: to ask for its size on another thread would take longer.
    const { size } = statSync(path);
    if (size === 0) throw new FarthingError('file_empty', 'The file has 0 bytes.');
    const limit = this.#limits.bytesMax;
    if (size > limit)
      throw new FarthingError('file_too_large', `Send files of at most ${limit} bytes.`, {
        facts: { bytes: size, limit_bytes: limit },
      });
    const opening = { tenant, size, signal };
    const task = { task: 'open', path, ...(name !== undefined && { name }) } as const;
    const fileInfo = await this.#openFile(task, opening);
    if (!isRecording(fileInfo)) return fileInfo;
    const recording = { task: 'open-recording', path, mediaType: fileInfo.mediaType } as const;
    return this.#open(this.#readers.pools.mediaOpenings, recording, opening);
  }

  /** A file that decodes for too long is opened again, without decoding anything. */
  async #openFile(task: Extract<Task, { task: 'open' }>, opening: Opening): Promise<FileInfo> {
    const { openings } = this.#readers.pools;
    try {
      return await this.#open(openings, task, opening);
    } catch (error) {
      if (errorCode(error) !== 'extraction_timeout') throw error;
      return this.#open(openings, { ...task, headersOnly: true }, opening);
    }
  }

  async #open(
    pool: ReaderPool,
    task: Extract<Task, { task: 'open' | 'open-recording' }>,
    { tenant, size, signal }: Opening,
  ): Promise<FileInfo> {
    const collector = new Collector(this.#limits, this.#pictureSpec, undefined);
    const work = {
      task,
      file: task.path,
      secondsMax: this.#limits.openSecondsMax / ('headersOnly' in task ? HEADERS_FASTER : 1),
      processorSecondsMax: openingSeconds(size),
      cost: isPlainText(task.path, size) ? TEXT_SECONDS : undefined,
      onReply: (reply: Reply) => collector.take(reply),
    };
    const { fileInfo, wasRead, ...summary } = await pool.run(this.#owners.of(tenant), work, signal);
    if (!fileInfo) throw noAnswer();
    if (wasRead) this.#cachedOpens.keep(fileInfo, { ...summary, collector });
    return fileInfo;
  }

  async extract(path: string, fileInfo: FileInfo, options: ExtractOptions = {}): Promise<Extracted> {
    const cached = this.#cachedOpens.take(fileInfo);
    const isUsable = cached && (cached.collector.pictures.length === 0 || this.#isCurrent(options.spec));
    const read = isUsable ? cached : await this.#read(path, fileInfo, options);
    const { title = fileInfo.title, notRead = [], collector } = read;
    const recognises = options.recognise ?? true;
    const unrecognised = recognises ? await this.#recognise(path, fileInfo, read, options) : [];
    return {
      fileInfo,
      ...(title !== undefined && { title }),
      blocks: inReadingOrder(collector.blocks),
      pictures: collector.pictures,
      notRead: addNotRead(notRead, ...guessedCharset(fileInfo), ...unrecognised),
    };
  }

  /** Whether pictures that were read when the file was opened look as they are wanted. */
  #isCurrent(spec: PictureSpec | undefined): boolean {
    return spec === undefined || isDeepStrictEqual(spec, this.#pictureSpec);
  }

  async #read(
    path: string,
    fileInfo: FileInfo,
    { tenant = ANY_TENANT, spec, signal, onProgress, onSound }: ExtractOptions,
  ): Promise<ReadFile> {
    // Listening takes longer than all else.
    const collector = new Collector(
      this.#limits,
      spec ?? this.#pictureSpec,
      onSound ? undefined : onProgress,
    );
    const { mediaType, duration_s } = fileInfo;
    const pool = isRecording(fileInfo)
      ? this.#readers.pools.mediaExtractions
      : this.#readers.pools.extractions;
    const owner = this.#owners.of(tenant);
    const limits = {
      secondsMax: this.#limits.extractSecondsMax,
      processorSecondsMax: processorSeconds(fileInfo, (await stat(path)).size),
      signal,
    };
    const done = await pool.run(owner, {
      ...limits,
      task: { task: 'extract', path, mediaType, ...(spec && { pictureSpec: spec }) },
      file: path,
      onReply: (reply) => collector.take(reply),
    });
    if (onSound) {
      const { mediaSecondsMax } = this.#limits;
      const onHeard = (seconds: number) => {
        if (duration_s) onProgress?.(Math.min(1, seconds / duration_s));
      };
      const end = new ClockEnd(this.#limits.perceiveSecondsMax, signal);
      const recording = {
        ...limits,
        signal: end.signal,
        path,
        mediaType,
        owner,
        mediaSecondsMax,
        onSound,
        onHeard,
      };
      await listen(pool, recording, this.#listeningTurnMs).catch(end.unlessOver);
      if (end.isOver) return { ...done, collector, notRead: addNotRead(done.notRead ?? [], UNHEARD) };
    }
    return { ...done, collector };
  }

  async unpack(
    path: string,
    fileInfo: FileInfo,
    { tenant = ANY_TENANT, target, signal, onMember = () => undefined }: UnpackOptions,
  ): Promise<readonly UnpackedMember[]> {
    const { mediaType, members: membersMax = 0 } = fileInfo;
    const writer = new MemberWriter({ membersMax, limits: this.#limits, target, onMember });
    try {
      await this.#readers.pools.extractions.run(this.#owners.of(tenant), {
        task: { task: 'unpack', path, mediaType },
        file: path,
        secondsMax: this.#limits.extractSecondsMax,
        processorSecondsMax: processorSeconds(fileInfo, (await stat(path)).size),
        signal,
        onReply: (reply) => (reply.reply === 'member' ? writer.take(reply) : undefined),
      });
      return await writer.finish();
    } finally {
      await writer.close();
    }
  }

  /**
   * OCR of the pages without text, one task a page: other files' pages come between. A page that fails stays without text. That a
   * scene has no text is no fault.
   * @returns the pages that stay without text
   */
  async #recognise(
    path: string,
    { mediaType, kind }: FileInfo,
    { textless = [], scenes = [], collector }: ReadFile,
    { tenant = ANY_TENANT, signal, onProgress }: ExtractOptions,
  ): Promise<readonly NotRead[]> {
    const { recogniser } = this.#readers.pools;
    // A picture has no pages: its words alone were not read.
    const unread = kind === 'picture' ? unreadWords : unreadPages;
    if (!this.#recognises) return unread(textless.length, 'unsupported');
    const limit = this.#limits.recognisedPagesMax;
    const pages = textless.length + scenes.length;
    if (pages > limit) this.#log({ event: 'pages_not_recognised', pages, limit_pages: limit });
    let notRead = unread(Math.max(0, pages - limit), 'limit');
    const taken = [
      ...textless.map((page) => ({ page, scene: false })),
      ...scenes.map((page) => ({ page, scene: true })),
    ].slice(0, limit);
    const end = new ClockEnd(this.#limits.perceiveSecondsMax, signal);
    for (const [index, { page, scene }] of taken.entries()) {
      if (end.isOver) return addNotRead(notRead, ...unread(taken.length - index, 'time_limit'));
      const before = collector.blocks.length;
      let failure: ErrorCode | undefined;
      try {
        const { notRead: beyond = [] } = await recogniser.run(this.#owners.of(tenant), {
          task: { task: 'recognise', path, mediaType, page, ...(scene && { scene }) },
          file: path,
          secondsMax: STALLED_FACTOR * this.#limits.recogniseSecondsMax,
          processorSecondsMax: this.#limits.recogniseSecondsMax,
          signal: end.signal,
          onReply: (reply) => collector.take(reply),
        });
        notRead = addNotRead(notRead, ...beyond);
      } catch (error) {
        const code = errorCode(error);
        if (end.isOver) return addNotRead(notRead, ...unread(taken.length - index, 'time_limit'));
        if (signal?.aborted || code === undefined || !PAGE_FAULTS.includes(code)) throw error;
        this.#log({ event: 'page_not_recognised', page, code });
        failure = code;
      }
      if (collector.blocks.length === before && (failure || !scene))
        notRead = addNotRead(notRead, ...unread(1, failure ? reasonOf(failure) : 'no_text'));
      onProgress?.((index + 1) / taken.length);
    }
    return notRead;
  }

  async decodePicture(
    bytes: Uint8Array,
    { spec, ...options }: QueryPictureOptions = {},
  ): Promise<PictureContent> {
    const collector = new Collector(this.#limits, spec ?? this.#pictureSpec, undefined);
    const task = { task: 'picture', ...(spec && { pictureSpec: spec }) } as const;
    await this.#queryPicture(bytes, task, options, (reply) => collector.take(reply));
    const picture = collector.pictures[0];
    if (!picture)
      throw new FarthingError('image_unreadable', 'The picture holds nothing.', {
        facts: { field: 'image_b64' },
      });
    return picture;
  }

  checkPicture(bytes: Uint8Array, options: QueryPictureOptions): Promise<void> {
    const task = { task: 'picture', headerOnly: true } as const;
    return this.#queryPicture(bytes, task, options, () => undefined);
  }

  async #queryPicture(
    bytes: Uint8Array,
    task: Extract<Task, { task: 'picture' }>,
    { tenant = ANY_TENANT, signal }: QueryPictureOptions,
    onReply: (reply: Reply) => void,
  ): Promise<void> {
    try {
      const { querySecondsMax: secondsMax } = this.#limits;
      const work = { task, body: bytes, secondsMax, signal, onReply };
      await this.#readers.pools.queries.run(this.#owners.of(tenant), work);
    } catch (error) {
      if (signal?.aborted) throw error;
      const code = errorCode(error);
      if (code === 'overloaded' || code === 'interrupted' || code === 'internal') throw error;
      const { detail, facts } = error as Partial<FarthingError>;
      throw new FarthingError('image_unreadable', detail ?? `Send a picture: ${PICTURE_NAMES}.`, {
        facts: { ...facts, field: 'image_b64' },
        cause: error,
      });
    }
  }

  async preview(path: string, { tenant = ANY_TENANT, ...place }: PreviewTask): Promise<Preview> {
    let preview: Preview | undefined;
    const { mediaOpenings, previews } = this.#readers.pools;
    await (place.mediaType.startsWith('video/') ? mediaOpenings : previews).run(this.#owners.of(tenant), {
      task: { task: 'preview', path, ...place },
      file: path,
      secondsMax: this.#limits.openSecondsMax,
      onReply: (reply: Reply) => {
        if (reply.reply === 'preview') preview = reply.preview;
      },
    });
    if (!preview) throw noAnswer();
    return preview;
  }

  canOpen(): Promise<void> {
    return this.#readers.pools.openings.warm();
  }

  warm(): Promise<void> {
    return this.#readers.warm();
  }

  confinement(): ConfinementReport | undefined {
    return this.#readers.confinement;
  }

  depths(): { queries: number; opening: number; extracting: number } {
    return this.#readers.depths();
  }

  close(): Promise<void> {
    return this.#readers.close();
  }
}

/** The end of a stage by the clock: what it has by then is kept. */
class ClockEnd {
  /** Aborted at the end, or with the sender's. */
  readonly signal: AbortSignal;
  readonly #sender: AbortSignal | undefined;

  constructor(seconds: number, sender: AbortSignal | undefined) {
    const end = AbortSignal.timeout(1000 * seconds);
    this.signal = sender ? AbortSignal.any([sender, end]) : end;
    this.#sender = sender;
  }

  get isOver(): boolean {
    return this.signal.aborted && !this.#sender?.aborted;
  }

  /** @throws what is no consequence of the end */
  readonly unlessOver = (error: unknown): void => {
    if (!this.isOver) throw error;
  };
}

/** The rest of a recording's speech. */
const UNHEARD: NotRead = { what: 'text', why: 'time_limit' };

function noAnswer(): FarthingError {
  return new FarthingError('extraction_failed', 'The reader gave no answer.');
}

function isRecording({ kind }: FileInfo): boolean {
  return kind === 'video' || kind === 'audio';
}

/**
 * Seconds of a processor that reading a file may take: some for each MiB, unpacked, for each page, and for each second that a recording
 * plays. Ordinary files take a tenth. Recordings have more to begin with, because short ones are decoded completely. How long an animation
 * says that it lasts costs nothing: only so many of its frames are read.
 */
function processorSeconds(info: FileInfo, bytes: number): number {
  const { membersBytes = 0, pages = 0, duration_s = 0 } = info;
  const [first, seconds] = isRecording(info)
    ? [240, Math.min(duration_s, bytes / BYTES_PER_SECOND_MIN)]
    : [20, 0];
  return first + (5 * (bytes + membersBytes)) / 2 ** 20 + 2 * pages + 2 * seconds;
}

/** Silence in Opus has more. A file that says that it lasts longer has no time for what it cannot hold. */
const BYTES_PER_SECOND_MIN = 100;

/** Seconds of a processor, beside what the size takes. */
const OPENING_SECONDS = 1;
/** A second opening, of the headers alone, has so much less time by the clock. */
const HEADERS_FASTER = 4;

/** Readers yield to all else on a busy host, so a page's time counts by the processor. By the clock it has so many times as much. */
const STALLED_FACTOR = 10;

/** Seconds of a processor that opening a file may take. */
function openingSeconds(bytes: number): number {
  return OPENING_SECONDS + bytes / (8 * 2 ** 20);
}

/** Refusals of a page that leave the rest of the file readable. */
const PAGE_FAULTS: readonly ErrorCode[] = ['extraction_timeout', 'extraction_failed', 'file_corrupt'];

function reasonOf(code: ErrorCode): UnreadReason {
  return code === 'extraction_timeout' ? 'time_limit' : 'damaged';
}

function unreadPages(count: number, why: UnreadReason): readonly NotRead[] {
  return count > 0 ? [{ what: 'pages', count, why }] : [];
}

function unreadWords(count: number, why: UnreadReason): readonly NotRead[] {
  return count === 0 ? [] : [{ what: 'text', why }];
}

function guessedCharset({ charset }: FileInfo): readonly NotRead[] {
  return charset?.guessed ? [{ what: 'charset', why: 'guessed' }] : [];
}

/** In the order of pages, those without a page first. OCR's blocks were added at the end. */
function inReadingOrder(blocks: readonly Block[]): Block[] {
  return [...blocks].sort((a, b) => (a.page ?? 0) - (b.page ?? 0));
}
