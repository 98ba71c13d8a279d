import type { NotRead } from './file/not-read.ts';
import type { Box, PageKind, TextSource } from './file/segment.ts';

/** Rectangle on the page of a part of a block's text: from the UTF-16 unit `at` to the next mark, or the end. */
export interface Mark {
  readonly at: number;
  readonly box: Box;
}

/** A stretch of a document's text, in reading order. Passages are cut from blocks. */
export interface Block {
  readonly text: string;
  /** Page of the file, from 1; absent for formats without pages. */
  readonly page?: number;
  /** Headings above the text, outermost first, joined by " › ". */
  readonly heading?: string;
  /** In ascending order; absent for pages without geometry. */
  readonly marks?: readonly Mark[];
  /** Seconds from the start, of media. */
  readonly time_s?: number;
  readonly time_end_s?: number;
  /** Absent: native, stored in the file as text. */
  readonly source?: TextSource;
  /** The recogniser's confidence in the text, 0..1. */
  readonly confidence?: number;
}

/** Samples per second of the sound that speech models take: 16 bits, one channel. */
export const SOUND_RATE = 16_000;

/** A file unpacked from another: the path of its bytes, or why it was refused. */
export interface UnpackedMember {
  /** Number among the files of its archive, from 0. */
  readonly index: number;
  /** The archive's name for it. Shown, never used as a path. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, in hexadecimal. */
  readonly sha256: string;
  readonly refused?: { readonly code: string; readonly detail: string };
}

/** A decoded picture, ready for a model: `width * height * 3` bytes, sRGB, row by row, in the size of its PictureSpec. */
export interface Pixels {
  readonly rgb: Uint8Array;
}

/**
 * Input of a `visual` model: the picture scaled to `width` × `height`. `cover` crops both ends, `contain` pads with white,
 * `fill` ignores the proportions.
 */
export interface PictureSpec {
  readonly width: number;
  readonly height: number;
  readonly fit: 'cover' | 'fill' | 'contain';
  readonly resample: 'nearest' | 'linear' | 'cubic' | 'mitchell' | 'lanczos2' | 'lanczos3';
}

/** The character set of a text: named by itself or by its mark, or guessed. */
export interface Charset {
  /** Its name in the web's Encoding Standard; besides, `ibm850` and `utf-32le`, `utf-32be`. */
  readonly name: string;
  readonly guessed: boolean;
}

export type DocumentKind = 'text' | 'document' | 'picture' | 'video' | 'audio' | 'archive';

/** A file's type and basic facts, known before its content is read. */
export interface FileInfo {
  readonly kind: DocumentKind;
  /** Recognised from the content, never from the name. */
  readonly mediaType: string;
  readonly pages?: number;
  /** Kind of its pages, if they are not paper pages. */
  readonly pageKind?: PageKind;
  /** Length of media, in seconds. */
  readonly duration_s?: number;
  /** Content that this server cannot search, such as `speech` without a model that transcribes it. */
  readonly notSearchable?: readonly string[];
  /** Pixels, after the rotation that EXIF asks for. */
  readonly width?: number;
  readonly height?: number;
  readonly title?: string;
  readonly charset?: Charset;
  /** Archives and mails with attachments: the files inside, each to become an Item, and their bytes. */
  readonly members?: number;
  readonly membersBytes?: number;
}

/** A picture of a file, or of one of its pages. */
export interface PictureContent {
  /** Without a picture model: zero bytes. */
  readonly pixels: Pixels;
  /** Perceptual fingerprint: near-identical pictures have near-identical ones. */
  readonly fingerprint: Uint8Array;
  /** SHA-256 of the picture's file, or of the pixels of a page's picture. */
  readonly digest: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly page?: number;
  /** Start of a frame, in seconds: it represents all near-equal frames until `time_end_s`. */
  readonly time_s?: number;
  readonly time_end_s?: number;
}

/** Everything that a file contributes to the index. */
export interface Extracted {
  readonly fileInfo: FileInfo;
  readonly title?: string;
  readonly blocks: readonly Block[];
  readonly pictures: readonly PictureContent[];
  /** Absent: all of it was read. */
  readonly notRead?: readonly NotRead[];
}

/** Limits for one untrusted file. */
export interface ExtractLimits {
  /** Bytes of a file. */
  readonly bytesMax: number;
  readonly pagesMax: number;
  /** Pixels that a picture declares, before decoding. */
  readonly pixelsMax: number;
  /** Characters (UTF-16 code units) of a document's text. */
  readonly charactersMax: number;
  /** Pages of a document that become pictures. */
  readonly pagePicturesMax: number;
  /** Frames of a recording that become pictures, and length of a recording. */
  readonly shotsMax: number;
  readonly mediaSecondsMax: number;
  /** Files inside an archive, and their total bytes once unpacked. */
  readonly archiveMembersMax: number;
  readonly archiveBytesMax: number;
  /** Seconds to open a file (what a client waits for), and to read all of it. */
  readonly openSecondsMax: number;
  readonly extractSecondsMax: number;
  /** Seconds to decode a query's picture. */
  readonly querySecondsMax: number;
  /** Pages of one file that OCR reads, and seconds of a processor for each. */
  readonly recognisedPagesMax: number;
  readonly recogniseSecondsMax: number;
  /** Seconds by the clock until OCR, or listening to a recording, ends with what it has, waiting for others' files included. */
  readonly perceiveSecondsMax: number;
  /** Memory of a reader process (RLIMIT_DATA). */
  readonly memoryBytesMax: number;
  /** Files that one reader process reads before it is replaced; ten times as many texts, if it has read nothing else. */
  readonly filesPerProcess: number;
}

/** Defaults, with their reasons. */
export const EXTRACT_LIMITS: ExtractLimits = {
  bytesMax: 256 * 2 ** 20,
  pagesMax: 5_000,
  // The largest cameras have a hundred megapixels. Decoded as RGBA that is 400 MB, below the memory limit.
  pixelsMax: 100_000_000,
  // About 10,000 pages of prose.
  charactersMax: 20_000_000,
  pagePicturesMax: 50,
  shotsMax: 1_000,
  mediaSecondsMax: 4 * 3600,
  // Each costs as much as a file that is uploaded alone.
  archiveMembersMax: 1_000,
  archiveBytesMax: 512 * 2 ** 20,
  openSecondsMax: 10,
  extractSecondsMax: 300,
  querySecondsMax: 10,
  // A dense page takes two to five seconds of one core.
  recognisedPagesMax: 500,
  recogniseSecondsMax: 90,
  perceiveSecondsMax: 3600,
  // PDFium and sharp run within it, and a runaway stops. Measured with PDFium's WebAssembly.
  memoryBytesMax: 2 ** 30,
  filesPerProcess: 200,
};
