import { join } from 'node:path';
import {
  type Block,
  EXTRACT_LIMITS,
  type Extracted,
  type ExtractLimits,
  type FileInfo,
  type PictureContent,
} from '../../src/protocol/document.ts';
import { addNotRead, type NotRead } from '../../src/protocol/file/not-read.ts';
import type { ExtractorOptions } from '../../src/readers/extractor.ts';
import { FormatReaders } from '../../src/readers/format-readers.ts';
import { FORMATS } from '../../src/readers/formats.ts';
import { openExtractor } from '../../src/readers/open-extractor.ts';
import type { FormatReader } from '../../src/readers/reading/format-reader.ts';
import type { Summary } from '../../src/readers/reading/sink.ts';
import { SourceFile } from '../../src/readers/reading/source-file.ts';
import { recognise } from '../../src/readers/recognise.ts';
import { type Teardown, temporaryFolder } from './temporary-folder.ts';

type Options = Partial<Omit<ExtractorOptions, 'limits'>> & { readonly limits?: Partial<ExtractLimits> };

/** Readers in processes of their own, as a server has them; closed when the test ends. Without other wishes pictures have no pixels. */
export function testExtractor(t: Teardown, { limits, ...options }: Options = {}) {
  const scratchFolder = join(temporaryFolder(t), 'scratch');
  const extractor = openExtractor({
    pictureSpec: undefined,
    scratchFolder,
    log: () => undefined,
    ...options,
    limits: { ...EXTRACT_LIMITS, ...limits },
  });
  t.teardown(() => extractor.close());
  const read = async (path: string): Promise<Extracted> =>
    extractor.extract(path, await extractor.open(path, { name: path }));
  return { extractor, scratchFolder, read };
}

export interface ReadFile extends Summary {
  readonly fileInfo: FileInfo;
  readonly blocks: readonly Block[];
  readonly pictures: readonly PictureContent[];
  readonly notRead: readonly NotRead[];
}

export interface UnpackedFile {
  readonly path: string;
  readonly text: string;
  readonly refused?: string;
}

const readersByLimits = new Map<string, Promise<FormatReaders>>();

function readersOf(limits: Partial<ExtractLimits>): Promise<FormatReaders> {
  const key = JSON.stringify(limits);
  const readers =
    readersByLimits.get(key) ??
    FormatReaders.load({ limits: { ...EXTRACT_LIMITS, ...limits }, pictureSpec: undefined });
  readersByLimits.set(key, readers);
  return readers;
}

/** Opens a file in this process, unconfined. */
export async function openBytes(bytes: Uint8Array, limits: Partial<ExtractLimits> = {}): Promise<FileInfo> {
  return (await (await readersOf(limits)).open(bytes)).fileInfo;
}

/** Opens and reads a file in this process, unconfined. */
export async function readBytes(bytes: Uint8Array): Promise<ReadFile> {
  const readers = await readersOf({});
  const { fileInfo } = await readers.open(bytes);
  const blocks: Block[] = [];
  const pictures: PictureContent[] = [];
  let notRead: readonly NotRead[] = [];
  const summary = await readers.read(bytes, fileInfo, {
    block: async (block) => void blocks.push(block),
    picture: async (picture) => void pictures.push(picture),
    progress: () => undefined,
    notRead: (what, why, count) => {
      notRead = addNotRead(notRead, { what, ...(count !== undefined && { count }), why });
    },
  });
  return { ...summary, fileInfo, blocks, pictures, notRead };
}

/** Opens and unpacks a file in this process, unconfined. Its members are taken for text. */
export async function unpackBytes(
  bytes: Uint8Array,
  limits: Partial<ExtractLimits> = {},
): Promise<UnpackedFile[]> {
  const readers = await readersOf(limits);
  const { mediaType } = (await readers.open(bytes)).fileInfo;
  const members: UnpackedFile[] = [];
  let [path, text] = ['', ''];
  await readers.unpack(bytes, mediaType, {
    begin: async (name) => {
      [path, text] = [name, ''];
    },
    piece: async (piece) => {
      text += Buffer.from(piece).toString();
    },
    end: async (refused) => {
      members.push({ path, text, ...(refused && { refused: refused.code }) });
    },
  });
  return members;
}

let formatReaders: Promise<ReadonlyMap<FormatReader, string>> | undefined;

async function loadReaders(): Promise<ReadonlyMap<FormatReader, string>> {
  const loaded = FORMATS.map(
    async ({ mediaType, load }) => [await (await load())(mediaType), mediaType] as const,
  );
  return new Map(await Promise.all(loaded));
}

/** The media type that a file is recognised as. */
export async function recognisedType(bytes: Uint8Array, name?: string): Promise<string | undefined> {
  formatReaders ??= loadReaders();
  const readers = await formatReaders;
  return readers.get(await recognise(readers.keys(), new SourceFile(bytes, name)));
}
