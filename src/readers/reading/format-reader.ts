import type { ExtractLimits, FileInfo, PictureSpec } from '@farthing/protocol/document';
import type { Preview } from '@farthing/protocol/file/preview';
import type { MemberSink, Sink, Summary } from './sink.ts';
import type { SourceFile } from './source-file.ts';

/** What every reader gets. */
export interface ReadContext {
  readonly limits: ExtractLimits;
  /** Undefined without a picture model. */
  readonly pictureSpec: PictureSpec | undefined;
}

/** Which part of a file a preview shows: a page, from 1, or a moment. */
export interface PreviewPlace {
  readonly page: number;
  readonly timeS?: number;
}

/** Reads the files of one format, in a confined reader process. Refusals are FarthingErrors; anything else is a fault of the reader. */
export interface FormatReader {
  /** True for a file of this format. Formats are asked in the order of their table, until one says true. */
  sniff(file: SourceFile): boolean | Promise<boolean>;
  /** Asked before `sniff`. The media type of a similar format that no reader reads; such a file is refused at once. */
  rejects?(file: SourceFile): string | undefined;
  /** Reads headers, and checks the limits: what it costs does not depend on what the file draws. Its sender waits for it. */
  open(file: SourceFile, context: ReadContext): FileInfo | Promise<FileInfo>;
  /**
   * Behind `open`, within a second or so: decodes some of the file, to know whether it can be read. Not called for a file that is read at
   * once, nor again where it took too long.
   */
  tryOut?(file: SourceFile, context: ReadContext): Promise<Partial<FileInfo> | undefined>;
  /** Whether an opened file is read at once, since that costs hardly more than opening it. Absent: never. */
  readsOnOpen?(file: SourceFile, info: FileInfo): boolean;
  /** Gives the file's own contents to the sink. Absent: it has none. */
  read?(file: SourceFile, context: ReadContext, sink: Sink): Promise<Summary>;
  /** Gives the files inside it to the sink. Absent: there are none. */
  unpack?(file: SourceFile, context: ReadContext, sink: MemberSink): Promise<void>;
  /** Absent: the format has nothing to show. */
  preview?(file: SourceFile, place: PreviewPlace, context: ReadContext): Promise<Preview>;
  /** True once the reader holds memory that it cannot give back. */
  readonly worn?: boolean;
}

/** Makes the reader of a media type, with everything loaded that it will need. */
export type MakeReader = (mediaType: string) => FormatReader | Promise<FormatReader>;
