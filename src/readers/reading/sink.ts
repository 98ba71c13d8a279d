import type { Block, FileInfo, PictureContent } from '@farthing/protocol/document';
import type { FarthingError } from '@farthing/protocol/error';
import type { NotRead, UnreadPart, UnreadReason } from '@farthing/protocol/file/not-read';
import type { Preview } from '@farthing/protocol/file/preview';

/** Takes a file's contents while it is read. A promise resolves when the sink can take more. */
export interface Sink {
  block(block: Block): Promise<void>;
  picture(picture: PictureContent): Promise<void>;
  /** @param fraction share of the file that has been read, 0..1 */
  progress(fraction: number): void;
  /** Reports what stays unread, each time that it is met. @param count absent: not a thing to be counted */
  notRead(what: UnreadPart, why: UnreadReason, count?: number): void;
}

/** Takes the files inside an archive one after the other: path, pieces, end. */
export interface MemberSink {
  begin(path: string): Promise<void>;
  piece(bytes: Uint8Array): Promise<void>;
  /** @param refused why the file could not be unpacked; absent: it is complete */
  end(refused?: FarthingError): Promise<void>;
}

const PIECE_BYTES = 256 * 1024;

/** Gives the sink all bytes of the member that has begun. */
export async function giveBytes(bytes: Uint8Array, sink: MemberSink): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    await sink.piece(bytes.subarray(at, at + PIECE_BYTES));
}

/** Everything that a reader process can send to the server while it performs a task. */
export interface Output extends Sink {
  readonly members: MemberSink;
  preview(preview: Preview): Promise<void>;
  /** @param samples 16 bits each, one channel, SOUND_RATE a second */
  sound(samples: Uint8Array): Promise<void>;
  flush(): Promise<void>;
  /** Everything reported as not read so far. */
  readonly unread: readonly NotRead[];
}

/** What is known of a file once all of it has been read. */
export interface Summary {
  readonly title?: string;
  /** Pages, from 1, that show something but hold no text: OCR may read them. A picture is page 1. */
  readonly textless?: readonly number[];
  /** Pages that are pictures of something else than a page: there may be writing on a part of them. */
  readonly scenes?: readonly number[];
}

/** The end of a task, after everything that it sent to the output. */
export interface Done extends Summary {
  readonly fileInfo?: FileInfo;
  readonly notRead?: readonly NotRead[];
  /** A file that was to be opened has been read, too. */
  readonly wasRead?: boolean;
  /** The process holds memory that it cannot give back: replace it. */
  readonly worn?: boolean;
}
