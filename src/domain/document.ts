import type { Box, PageKind, TextSource } from './segment.ts';

/** Where a part of a block's text stands on its page: from the UTF-16 unit `at` to the next mark, or the end. */
export interface Mark {
  readonly at: number;
  readonly box: Box;
}

/** A stretch of a document's text, in reading order: what passages are cut from. */
export interface Block {
  readonly text: string;
  /** Page of the file, from 1; absent where a format has no pages. */
  readonly page?: number;
  /** Headings above the text, outermost first, joined by " › ". */
  readonly heading?: string;
  /** In ascending order; absent where a page has no geometry. */
  readonly marks?: readonly Mark[];
  /** Seconds from the start, of media. */
  readonly time_s?: number;
  readonly time_end_s?: number;
  /** Absent: native, written in the file as text. */
  readonly source?: TextSource;
  /** How sure a recogniser was of the text, 0..1. */
  readonly confidence?: number;
}

/** Samples a second of sound as models of speech want it: 16 bits, one channel. */
export const SOUND_RATE = 16_000;

/** A file that was unpacked from another: its bytes lie in a file, or it was refused. */
export interface UnpackedMember {
  /** Number among the files of its archive, from 0. */
  readonly index: number;
  /** As the archive names it; shown, never used as a path. */
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
 * What a `visual` model wants to see: the picture scaled to `width` × `height`. `cover` cuts what is over at both ends,
 * `contain` fills what is missing with white, `fill` ignores the proportions.
 */
export interface PictureSpec {
  readonly width: number;
  readonly height: number;
  readonly fit: 'cover' | 'fill' | 'contain';
  readonly resample: 'nearest' | 'linear' | 'cubic' | 'mitchell' | 'lanczos2' | 'lanczos3';
}

export type DocumentKind = 'text' | 'document' | 'picture' | 'video' | 'audio' | 'archive';

/** What is known of a file once its type is recognised and it was opened, before the slow part. */
export interface FileInfo {
  readonly kind: DocumentKind;
  /** As recognised from the content, never from the name. */
  readonly mediaType: string;
  readonly pages?: number;
  /** What its pages are, where they are none of paper. */
  readonly pageKind?: PageKind;
  /** Length of media, in seconds. */
  readonly duration_s?: number;
  /** What is in the file and cannot be found here, as `speech` without a model that writes it down. */
  readonly notSearchable?: readonly string[];
  /** Pixels, after the turn that EXIF asks for. */
  readonly width?: number;
  readonly height?: number;
  readonly title?: string;
  /** Files inside that become Items of their own, and their bytes: of an archive, or of a mail with attachments. */
  readonly members?: number;
  readonly membersBytes?: number;
}

/** A picture of a file, or of one of its pages. */
export interface PictureContent {
  /** Without a picture model: zero bytes. */
  readonly pixels: Pixels;
  /** Perceptual fingerprint: near-identical pictures have near-identical ones. */
  readonly fingerprint: Uint8Array;
  /** SHA-256 of the picture's file; of a page's picture: of its pixels. */
  readonly digest: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly page?: number;
  /** Seconds from the start, of a frame: it stands for all near-equal ones from here to `time_end_s`. */
  readonly time_s?: number;
  readonly time_end_s?: number;
}

/** All that a file gives to the index. */
export interface Extracted {
  readonly fileInfo: FileInfo;
  readonly title?: string;
  readonly blocks: readonly Block[];
  readonly pictures: readonly PictureContent[];
}

/** What one untrusted file may cost. */
export interface ExtractLimits {
  /** Bytes of a file. */
  readonly bytesMax: number;
  readonly pagesMax: number;
  /** Pixels of a picture as it claims, before decoding. */
  readonly pixelsMax: number;
  /** Characters (UTF-16 code units) of a document's text. */
  readonly charactersMax: number;
  /** Pages of a document that become pictures. */
  readonly pagePicturesMax: number;
  /** Frames of a recording that become pictures, and its seconds. */
  readonly shotsMax: number;
  readonly mediaSecondsMax: number;
  /** Files inside an archive, and their bytes together once unpacked. */
  readonly archiveMembersMax: number;
  readonly archiveBytesMax: number;
  /** Seconds to open a file (what a client waits for), and to read all of it. */
  readonly openSecondsMax: number;
  readonly extractSecondsMax: number;
  /** Seconds to decode a query's picture. */
  readonly querySecondsMax: number;
  /** Pages of one file whose writing is recognised, and seconds for each. */
  readonly recognisedPagesMax: number;
  readonly recogniseSecondsMax: number;
  /** Memory of a child process (RLIMIT_DATA). */
  readonly memoryBytesMax: number;
  /** Files that one child process reads before a new one takes its place. */
  readonly filesPerChild: number;
}

/** Defaults, with their reasons. */
export const EXTRACT_LIMITS: ExtractLimits = {
  bytesMax: 256 * 2 ** 20,
  pagesMax: 5_000,
  // A hundred megapixels: the largest cameras; 400 MB once decoded as RGBA, under the memory limit.
  pixelsMax: 100_000_000,
  // About 10,000 pages of prose.
  charactersMax: 20_000_000,
  pagePicturesMax: 50,
  shotsMax: 1_000,
  mediaSecondsMax: 4 * 3600,
  // Each costs as much as a file that is sent by itself.
  archiveMembersMax: 1_000,
  archiveBytesMax: 512 * 2 ** 20,
  openSecondsMax: 10,
  extractSecondsMax: 300,
  querySecondsMax: 10,
  // A dense page takes two to five seconds of one core.
  recognisedPagesMax: 500,
  recogniseSecondsMax: 90,
  // PDFium and sharp run in it, a runaway stops; measured with PDFium's WebAssembly.
  memoryBytesMax: 2 ** 30,
  filesPerChild: 200,
};
