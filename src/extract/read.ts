import type { Block, ExtractLimits, FileInfo, PictureContent, PictureSpec } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import { ARCHIVE_TYPES, openArchive, unpackArchive } from './archive/archive.ts';
import { MAIL_TYPE, openMail, readMail, unpackMail } from './mail/mail.ts';
import { OFFICE_FORMATS, openOffice, readOffice } from './office/office.ts';
import { extractPdf, openPdf, tooManyCharacters } from './pdf/pdf.ts';
import type { Pdfium } from './pdf/pdfium.ts';
import { captionOf } from './picture/caption.ts';
import { embeddedPictures } from './picture/embedded.ts';
import { greyOfPicture, openPicture, type PictureType } from './picture/picture.ts';
import { readPictures } from './picture/picture-sequence.ts';
import { ShotMerger } from './picture/shots.ts';
import { JUDGED_SIDE_PIXELS, looksLikeTextPage } from './picture/text-page-test.ts';
import type { Done, MemberSink } from './process/program.ts';
import { corrupt, unsupported } from './reading/refusal.ts';
import { recognise } from './recognise.ts';
import { decodeText } from './text/charset.ts';
import { type ReadText, TEXT_READERS } from './text/text-format.ts';

/** What the readers of all types share, in the child process. */
export interface Reading {
  readonly pdfium: Pdfium;
  readonly limits: ExtractLimits;
  readonly pictureSpec: PictureSpec | undefined;
}

/** Where the contents of a file go while it is read. Each call resolves when more may come. */
export interface Sink {
  block(block: Block): Promise<void>;
  picture(picture: PictureContent): Promise<void>;
  progress(fraction: number): void;
}

/** A block longer than this is cut, so that no message is over its limit. */
export const BLOCK_LENGTH_MAX = 64 * 1024;

/** Recognises a file and opens it. @throws media_type_unsupported, file_empty, file_corrupt, file_encrypted, document_too_large. */
export async function openFile(
  bytes: Uint8Array,
  name: string | undefined,
  { pdfium, limits }: Reading,
): Promise<FileInfo> {
  const found = await recognise(bytes, name);
  if (found.kind === 'document') return openPdf(pdfium, bytes, limits);
  if (found.kind === 'office') return openOffice(bytes, found.mediaType);
  if (found.kind === 'picture') return openPicture(bytes, found.mediaType, limits);
  if (found.kind === 'archive') return openArchive(bytes, found.mediaType, limits);
  if (found.kind === 'mail') return openMail(bytes, limits);
  // Another process opens a recording: this one only tells what it is.
  if (found.kind !== 'text') return found;
  if (!/\S/.test(found.text))
    throw new FarthingError('file_empty', 'The file holds nothing but white space.');
  if (found.text.length > limits.charactersMax) throw tooManyCharacters(limits);
  return { kind: 'text', mediaType: found.mediaType };
}

/** Gives all of a file's contents to the sink. @returns its title, and what has no text. @throws as openFile. */
export async function extractFile(
  bytes: Uint8Array,
  mediaType: string,
  reading: Reading,
  sink: Sink,
): Promise<Pick<Done, 'title' | 'textless'>> {
  const { pdfium, limits, pictureSpec } = reading;
  if (mediaType === 'application/pdf') return extractPdf(pdfium, bytes, limits, pictureSpec, cutting(sink));
  if (Object.hasOwn(OFFICE_FORMATS, mediaType)) return extractOffice(bytes, mediaType, reading, sink);
  if (mediaType === MAIL_TYPE) return extractMail(bytes, limits, sink);
  const readText: ReadText | undefined = Object.hasOwn(TEXT_READERS, mediaType)
    ? TEXT_READERS[mediaType as keyof typeof TEXT_READERS]
    : undefined;
  if (!readText) {
    if (!mediaType.startsWith('image/')) throw unsupported(mediaType);
    return extractPicture(bytes, mediaType as PictureType, reading, sink);
  }
  const text = decodeText(bytes);
  if (text === undefined) throw corrupt('it is no text');
  if (text.length > limits.charactersMax) throw tooManyCharacters(limits);
  const { title, blocks } = readText(text);
  for (const block of blocks) await cutting(sink).block(block);
  return { title };
}

/** Gives the files inside a file to the sink. @throws as openFile. */
export async function unpackFile(
  bytes: Uint8Array,
  mediaType: string,
  { limits }: Reading,
  sink: MemberSink,
): Promise<void> {
  if (mediaType === MAIL_TYPE) return unpackMail(bytes, limits, sink);
  const archive = ARCHIVE_TYPES.find((type) => type === mediaType);
  if (!archive) throw unsupported(mediaType);
  await unpackArchive(bytes, archive, limits, sink);
}

async function extractMail(
  bytes: Uint8Array,
  limits: ExtractLimits,
  sink: Sink,
): Promise<Pick<Done, 'title'>> {
  const { title, blocks } = await readMail(bytes);
  if (blocks.reduce((sum, { text }) => sum + text.length, 0) > limits.charactersMax)
    throw tooManyCharacters(limits);
  for (const block of blocks) await cutting(sink).block(block);
  return { title };
}

async function extractOffice(
  bytes: Uint8Array,
  mediaType: string,
  { limits, pictureSpec }: Reading,
  sink: Sink,
): Promise<Pick<Done, 'title'>> {
  const { blocks, pictures, title } = readOffice(bytes, mediaType);
  let characters = 0;
  for (const block of blocks) {
    characters += block.text.length;
    if (characters > limits.charactersMax) throw tooManyCharacters(limits);
    await cutting(sink).block(block);
  }
  for (const picture of await embeddedPictures(pictures, limits, pictureSpec)) await sink.picture(picture);
  return { title };
}

async function extractPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  { limits, pictureSpec }: Reading,
  sink: Sink,
): Promise<Pick<Done, 'textless'>> {
  const caption = await captionOf(bytes, mediaType).catch(() => undefined);
  if (caption) await cutting(sink).block(caption);
  const shots = new ShotMerger(limits.pagePicturesMax);
  const textless: number[] = [];
  for await (const picture of readPictures(bytes, mediaType, limits, pictureSpec)) {
    if (picture.time_s !== undefined) {
      shots.push(picture);
      continue;
    }
    await sink.picture(picture);
    const page = picture.page ?? 1;
    const { grey, width } = await greyOfPicture(bytes, mediaType, page, JUDGED_SIDE_PIXELS, limits);
    if (looksLikeTextPage(grey, width)) textless.push(page);
  }
  for (const shot of shots.finish()) await sink.picture(shot);
  return { textless };
}

/** The same sink, for blocks of any length. */
function cutting(sink: Sink): Sink {
  return {
    ...sink,
    block: async (block) => {
      for (let rest = block.text, from = 0; rest !== ''; ) {
        const end = rest.length <= BLOCK_LENGTH_MAX ? rest.length : cutBefore(rest);
        const marks = block.marks
          ?.filter(({ at }) => at >= from && at < from + end)
          .map((mark) => ({ ...mark, at: mark.at - from }));
        await sink.block({ ...block, text: rest.slice(0, end), ...(marks && { marks }) });
        const left = rest.slice(end).trimStart();
        from += rest.length - left.length;
        rest = left;
      }
    },
  };
}

/** The last paragraph's, line's, sentence's or word's end within the limit; never inside a character. */
function cutBefore(text: string): number {
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = text.lastIndexOf(mark, BLOCK_LENGTH_MAX - mark.length);
    if (at > BLOCK_LENGTH_MAX / 2) return at + mark.length;
  }
  const isPair = /[\ud800-\udbff]/.test(text[BLOCK_LENGTH_MAX - 1]!);
  return isPair ? BLOCK_LENGTH_MAX - 1 : BLOCK_LENGTH_MAX;
}
