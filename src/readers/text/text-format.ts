import type { Block } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { NotRead } from '@farthing/protocol/file/not-read';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt, tooManyCharacters } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { type DecodedText, readText } from './charset.ts';

/** For formats to be recognised by. */
const START_LENGTH = 8192;
/** A text of this length is read in some milliseconds. */
const READ_ON_OPEN_BYTES_MAX = 64 * 1024;

/** Text whose format is to be recognised. */
export interface TextSample {
  readonly text: string;
  /** Its first characters, without a byte order mark and leading white space. */
  readonly start: string;
  readonly name: string | undefined;
}

/** What a text says: in sections where it has headings. */
export interface TextContents {
  readonly title?: string;
  readonly blocks: Block[];
  /** Absent: all of it was read. */
  readonly notRead?: readonly NotRead[];
}

/** A format that is text in a character set. */
export interface TextFormat {
  looksLike(sample: TextSample): boolean;
  /** Refuses what would take too long to read. @throws document_too_large. */
  check?(text: string): void;
  read(text: string): TextContents;
}

export function textReader({ looksLike, check, read }: TextFormat): MakeReader {
  return (mediaType) => ({
    rejects: (file) => (/^%!PS/.test(sampleOf(file)?.start ?? '') ? 'application/postscript' : undefined),
    sniff: (file) => {
      const sample = sampleOf(file);
      return sample !== undefined && looksLike(sample);
    },
    open: (file, { limits }) => {
      const { text, charset } = textOf(file);
      if (!/\S/.test(text)) throw new FarthingError('file_empty', 'The file holds nothing but white space.');
      if (text.length > limits.charactersMax) throw tooManyCharacters(limits);
      check?.(text);
      return { kind: 'text', mediaType, charset };
    },
    readsOnOpen: ({ bytes }) => bytes.length <= READ_ON_OPEN_BYTES_MAX,
    read: async (file, { limits }, sink) => {
      const { text } = textOf(file);
      if (text.length > limits.charactersMax) throw tooManyCharacters(limits);
      const { title, blocks, notRead = [] } = read(text);
      for (const block of blocks) await sink.block(block);
      for (const { what, why, count } of notRead) sink.notRead(what, why, count);
      return { title };
    },
  });
}

function textOf(file: SourceFile): DecodedText {
  const decoded = file.find(readText);
  if (!decoded) throw corrupt('it is no text');
  return decoded;
}

function sampleOf(file: SourceFile): TextSample | undefined {
  const text = file.find(readText)?.text;
  if (text === undefined) return undefined;
  const start = text
    .slice(0, START_LENGTH)
    .replace(/^\ufeff/, '')
    .trimStart();
  return { text, start, name: file.name };
}
