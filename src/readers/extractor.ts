import type {
  Extracted,
  ExtractLimits,
  FileInfo,
  PictureContent,
  PictureSpec,
  UnpackedMember,
} from '@farthing/protocol/document';
import type { Preview } from '@farthing/protocol/file/preview';
import type { Owners } from '@farthing/queues/owners';
import type { ConfinementReport } from './process/messages.ts';

/** Reads strangers' files, in processes that can do nothing else. */
export interface Extractor {
  /**
   * Recognises the type by content, checks limits and reads headers. Within about a second, the first page or frame is decoded, too, and
   * what a small file contains is read for the `extract` of the same FileInfo; what takes longer is left to `extract`.
   * @throws media_type_unsupported, file_empty, file_too_large, file_corrupt, file_encrypted, document_too_large,
   * extraction_timeout, extraction_failed, overloaded.
   */
  open(path: string, hint: OpenOptions): Promise<FileInfo>;
  /** Reads all of a file that was opened before. @throws as open; the signal's reason when it is aborted. */
  extract(path: string, fileInfo: FileInfo, options?: ExtractOptions): Promise<Extracted>;
  /** Writes the files inside an archive or mail that was opened before, each to its `target`. @throws as extract. */
  unpack(path: string, fileInfo: FileInfo, options: UnpackOptions): Promise<readonly UnpackedMember[]>;
  /**
   * Decodes the picture of a query, for the current picture model or for the one of `spec`. Its process reads
   * nothing else. @throws image_unreadable, overloaded; the signal's reason when it is aborted.
   */
  decodePicture(bytes: Uint8Array, options?: QueryPictureOptions): Promise<PictureContent>;
  /** As `decodePicture`, of the header alone: what it costs does not depend on the pixels. */
  checkPicture(bytes: Uint8Array, options: QueryPictureOptions): Promise<void>;
  /**
   * A small picture of a file that was opened before: of one of its pages, from 1, or of a moment.
   * @throws preview_unavailable, field_invalid, and as open.
   */
  preview(path: string, place: PreviewTask): Promise<Preview>;
  /** Starts the processes that first tasks need, which would otherwise start with those tasks. Resolves when they have started. */
  warm(): Promise<void>;
  /** Resolves once a process that opens files runs, or could not start. */
  canOpen(): Promise<void>;
  /** How the reader processes are confined; undefined until one has started. */
  confinement(): ConfinementReport | undefined;
  /** Files and pictures that wait or are being read. */
  depths(): { queries: number; opening: number; extracting: number };
  close(): Promise<void>;
}

/** Whose work it is: the owners of Tenants take turns. Absent: all such work takes turns as one Tenant's. */
export interface ForTenant {
  readonly tenant?: string;
}

export interface OpenOptions extends ForTenant {
  readonly name?: string;
  /** Aborted while the file waits to be opened: it is given up. */
  readonly signal?: AbortSignal;
}

export interface QueryPictureOptions extends ForTenant {
  readonly spec?: PictureSpec;
  readonly signal?: AbortSignal;
}

export interface PreviewTask extends ForTenant {
  readonly mediaType: string;
  readonly page: number;
  readonly timeS?: number;
}

export interface ExtractOptions extends ForTenant {
  /** What pictures must look like; absent: as the current picture model wants them. */
  readonly spec?: PictureSpec;
  readonly signal?: AbortSignal;
  readonly onProgress?: (fraction: number) => void;
  /** Gets the sound of a recording: 16-bit samples, SOUND_RATE a second. The reader waits for each promise. */
  readonly onSound?: (samples: Int16Array) => Promise<void>;
  /** False: no OCR. */
  readonly recognise?: boolean;
}

export interface UnpackOptions extends ForTenant {
  /** Where the member of this number, from 0, is written. */
  readonly target: (index: number) => string;
  readonly signal?: AbortSignal;
  /** @param count members that are written so far */
  readonly onMember?: (count: number) => void;
}

export interface ExtractorOptions {
  /** What the picture model wants. Without a model, pictures have a fingerprint and no pixels. */
  readonly pictureSpec: PictureSpec | undefined;
  readonly limits: ExtractLimits;
  /** Folder of this Extractor alone, on the file system of the uploads. It is emptied at the start. */
  readonly scratchFolder: string;
  /** Languages of OCR (ISO 639-2), or `auto`; empty: no OCR. */
  readonly languages?: readonly string[];
  /** Files that are read at the same time. */
  readonly readers?: number;
  /** What one recording may be listened to while others wait, in milliseconds. Absent: half a minute. */
  readonly listeningTurnMs?: number;
  /** Absent: each workspace owns itself. */
  readonly owners?: Pick<Owners, 'of'>;
  readonly log: (event: object) => void;
}
