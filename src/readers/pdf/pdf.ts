import { createHash } from 'node:crypto';
import type { Block, ExtractLimits, FileInfo, Mark } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { Box } from '@farthing/protocol/file/segment';
import { memberRefusal } from '../archive/unpack-budget.ts';
import { aboutBlocks } from '../office/office-content.ts';
import { greyOfRaw } from '../picture/grey.ts';
import { fromRaw } from '../picture/picture-content.ts';
import { previewOfRaw } from '../picture/picture-preview.ts';
import { JUDGED_SIDE_PIXELS, looksLikeTextPage } from '../picture/text-page-test.ts';
import type { MakeReader, ReadContext } from '../reading/format-reader.ts';
import { corrupt, encrypted, tooLarge, tooManyCharacters, unknownPage } from '../reading/refusal.ts';
import { giveBytes, type MemberSink, type Sink, type Summary } from '../reading/sink.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { decodeText, withoutControls } from '../text/charset.ts';
import { oneLine } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { inReadingOrder } from './columns.ts';
import type { PdfPage, RenderedPage } from './pdf-page.ts';
import { type PdfDocument, Pdfium, PdfOpenError } from './pdfium.ts';
import { reflow } from './reflow.ts';
import { hasShiftedLetters } from './shifted-map.ts';

/** A PDF may begin within the first 1,024 bytes (ISO 32000-1, implementation note 13 of Adobe's reader). */
const PROBE_BYTES = 1024;
/** Pages whose pinned files are taken: all are looked for before the file is paid. */
const PINNED_PAGES_MAX = 200;

/** Titles that programs make up say nothing about a document. */
const MACHINE_TITLE =
  /^(untitled|unknown|document\d*|microsoft (word|powerpoint|excel) - .*|(.*\.(docx?|pptx?|xlsx?|odt|tex|dvi|indd|qxd|pdf|html?)))$/i;

/** A page with fewer letters counts as one without text, and becomes a picture. */
const LETTERS_MIN = 8;
/** A page that pictures cover to this share becomes a picture too. */
const PICTURE_SHARE_MIN = 0.1;
/** A page that one picture fills and that has few letters is a scan. */
const SCAN_SHARE_MIN = 0.8;
const SCAN_LETTERS_MAX = 120;
const RENDER_SIDE_PIXELS = 640;
/** Longer side of a preview: its text can be read. */
const PREVIEW_SIDE_PIXELS = 1200;
/** Pages between two turns of the event loop, so that messages flow. */
const PAGES_PER_TURN = 8;
/** PDFium's memory grows and never shrinks: above this, a fresh process is better. */
const WORN_BYTES = 192 * 2 ** 20;

export const pdf: MakeReader = async (mediaType) => {
  const pdfium = await Pdfium.load();
  return {
    sniff: looksLikePdf,
    open: ({ bytes }, { limits }) => ({ ...openPdf(pdfium, bytes, limits), mediaType }),
    tryOut: async ({ bytes }, { limits }) => tryFirstPage(pdfium, bytes, limits),
    read: ({ bytes }, context, sink) => extractPdf(pdfium, bytes, context, sink),
    unpack: ({ bytes }, { limits }, sink) =>
      withDocument(pdfium, bytes, (document) => attachmentsOf(document, limits)).reduce(
        (last, file) => last.then(() => giveFile(file, limits, sink)),
        Promise.resolve(),
      ),
    preview: async ({ bytes }, { page }, { limits }) => {
      const rendered = renderPage(pdfium, bytes, page, limits);
      return previewOfRaw({ ...rendered, channels: 4 }, PREVIEW_SIDE_PIXELS);
    },
    get worn() {
      return pdfium.memoryBytes > WORN_BYTES;
    },
  };
};

/** By its mark at the start. Behind other bytes the mark may be a word of a text: then only a PDF's end counts. */
function looksLikePdf(file: SourceFile): boolean {
  const start = Buffer.from(file.bytes.subarray(0, PROBE_BYTES)).indexOf('%PDF-');
  return start === 0 || (start > 0 && (file.find(decodeText) === undefined || hasPdfEnd(file.bytes)));
}

function hasPdfEnd(bytes: Uint8Array): boolean {
  const end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - PROBE_BYTES)));
  return /startxref\s+\d+\s+%%EOF/.test(end.toString('latin1'));
}

function openPdf(pdfium: Pdfium, bytes: Uint8Array, limits: ExtractLimits): Omit<FileInfo, 'mediaType'> {
  return withDocument(pdfium, bytes, (document) => {
    const pages = checkPages(document, limits);
    return { kind: 'document', pages, title: titleOf(document) };
  });
}

/** Damage at the start is found before anybody pays. @returns the number and bytes of the files inside */
function tryFirstPage(pdfium: Pdfium, bytes: Uint8Array, limits: ExtractLimits): Partial<FileInfo> {
  return withDocument(pdfium, bytes, (document) => {
    if (document.page(0, (page) => page.withText(limits.charactersMax, (text) => text)) === undefined)
      throw corrupt('its first page cannot be read');
    const attached = attachmentsOf(document, limits);
    if (attached.length === 0) return {};
    const membersBytes = attached.reduce((sum, file) => sum + (file.bytes?.length ?? 0), 0);
    return { members: attached.length, membersBytes };
  });
}

interface AttachedFile {
  readonly name: string;
  /** Undefined for one that is too large or damaged. */
  readonly bytes: Uint8Array | undefined;
}

/** Files inside the document, and those pinned to its first pages. */
function attachmentsOf(document: PdfDocument, limits: ExtractLimits): AttachedFile[] {
  const pages = Math.min(document.pageCount, PINNED_PAGES_MAX);
  const found: AttachedFile[] = [];
  const take = (handles: readonly number[]) => {
    const more = handles.slice(0, limits.archiveMembersMax - found.length);
    found.push(...document.files(more, limits.bytesMax));
  };
  take(document.attachments(limits.archiveMembersMax));
  for (let index = 0; index < pages; index++) document.page(index, (page) => take(page.extras().attachments));
  let left = limits.archiveBytesMax;
  return found.map(({ name, bytes }) => {
    left -= bytes?.length ?? 0;
    return { name: name || 'attachment', bytes: left >= 0 ? bytes : undefined };
  });
}

async function giveFile(
  { name, bytes }: AttachedFile,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  await sink.begin(name);
  if (bytes) await giveBytes(bytes, sink);
  await sink.end(bytes ? undefined : memberRefusal(limits.bytesMax + 1, limits));
}

/**
 * Text page by page. Pages without text and pages with pictures also become pictures, up to `limits.pagePicturesMax`.
 * @throws file_encrypted, document_too_large; file_corrupt, also when no page gives anything.
 */
export async function extractPdf(
  pdfium: Pdfium,
  bytes: Uint8Array,
  { limits, pictureSpec }: ReadContext,
  sink: Sink,
): Promise<Summary> {
  const document = openDocument(pdfium, bytes);
  try {
    const pages = checkPages(document, limits);
    let characters = 0;
    let pictures = 0;
    let files = document.attachmentCount;
    const textless: number[] = [];
    const bookmarks = bookmarksOf(document, sink);
    for (let index = 0; index < pages; index++) {
      const wantsPicture = pictures < limits.pagePicturesMax;
      const content = document.page(index, (page) =>
        readPage(page, limits.charactersMax - characters, wantsPicture),
      );
      if (!content) sink.notRead('pages', 'damaged', 1);
      else {
        tell(content, sink);
        if (index < PINNED_PAGES_MAX) files += content.files;
        else if (content.files > 0) sink.notRead('attachments', 'limit', content.files);
      }
      const parts: Omit<Block, 'page'>[] = [
        ...(content ? [{ text: content.text, marks: content.marks }, { text: content.added }] : []),
        { text: bookmarkText(bookmarks.get(index), content?.text), heading: BOOKMARKS },
      ];
      for (const part of parts) {
        if (part.text === '') continue;
        characters += part.text.length;
        if (characters >= limits.charactersMax) throw tooManyCharacters(limits);
        await sink.block({ ...part, page: index + 1 });
      }
      // Letters may be drawn as curves.
      if (content?.isBare && (content.shows || (await showsWriting(content.rendered))))
        textless.push(index + 1);
      if (content?.rendered) {
        pictures++;
        const { data, width, height } = content.rendered;
        const digest = createHash('sha256').update(data).digest();
        const place = { digest, page: index + 1 };
        await sink.picture(await fromRaw({ data, width, height, channels: 4 }, pictureSpec, place));
      }
      sink.progress((index + 1) / pages);
      if (index % PAGES_PER_TURN === 0) await new Promise(setImmediate);
    }
    const beyond = files - limits.archiveMembersMax;
    if (beyond > 0) sink.notRead('attachments', 'limit', beyond);
    const data = document.xfaData(sink.notRead);
    const values = data === undefined ? '' : xfaText(data);
    if (values !== '') {
      characters += values.length;
      if (characters >= limits.charactersMax) throw tooManyCharacters(limits);
      await sink.block({ text: values, page: 1 });
    }
    const elsewhere = bookmarkText(bookmarks.get(-1));
    const beside = elsewhere === '' ? [] : [{ text: elsewhere, heading: BOOKMARKS }];
    for (const block of [...beside, ...propertiesOf(document)]) {
      characters += block.text.length;
      if (characters >= limits.charactersMax) throw tooManyCharacters(limits);
      await sink.block(block);
    }
    if (characters === 0 && pictures === 0) throw corrupt('none of its pages has text or can be shown');
    return { title: titleOf(document), textless };
  } finally {
    document.close();
  }
}

/** @param page from 1 */
function renderPage(pdfium: Pdfium, bytes: Uint8Array, page: number, limits: ExtractLimits): RenderedPage {
  return withDocument(pdfium, bytes, (document) => {
    const pages = checkPages(document, limits);
    if (page > pages) throw unknownPage(page, pages);
    const rendered = document.page(page - 1, (loaded) => loaded.render(PREVIEW_SIDE_PIXELS));
    if (!rendered) throw corrupt(`its page ${page} cannot be read`);
    return rendered;
  });
}

/** What was not given of a page. */
function tell({ unseen, left }: PageContent, sink: Sink): void {
  if (unseen.hidden > 0) sink.notRead('hidden_text', 'hidden', unseen.hidden);
  if (unseen.unmapped > 0) sink.notRead('characters', 'no_value', unseen.unmapped);
  if (left > 0) sink.notRead('annotations', 'limit', left);
}

type PageContent = ReturnType<typeof readPage>;

function readPage(page: PdfPage, charactersMax: number, wantsPicture: boolean) {
  const read = page.withText(charactersMax, (raw, { boxOf, edgesOf }, unseen) => {
    const { text, lines } = reflow(raw, inReadingOrder(raw, edgesOf));
    const marks = lines.flatMap(({ at, from, to }): Mark[] => {
      const box = boxOf(from, to);
      return box && !isPageNumber(raw.slice(from, to), box) ? [{ at, box }] : [];
    });
    return { text, marks, unseen };
  });
  const letters = read.text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  // What the page shows is the truth: OCR reads it.
  const isFalse = read.unseen.unmapped > letters / 4 || hasShiftedLetters(read.text);
  const { text, marks } = isFalse ? { text: '', marks: [] } : read;
  const share = page.pictureShare();
  // A scan may have a stamp, or a line of the program that made it.
  const isScan = share >= SCAN_SHARE_MIN && letters < SCAN_LETTERS_MAX;
  const isBare = isFalse || letters < LETTERS_MIN || isScan;
  const shows = isFalse || share >= PICTURE_SHARE_MIN;
  const rendered = wantsPicture && (isBare || shows) ? page.render(RENDER_SIDE_PIXELS) : undefined;
  const { fields, notes, attachments, left } = page.extras();
  const added = withoutControls([...fields, ...notes].join('\n'));
  return {
    text,
    marks,
    added,
    unseen: read.unseen,
    files: attachments.length,
    left,
    isBare,
    shows,
    rendered,
  };
}

/** No book has more. */
const BOOKMARKS_MAX = 2_000;
const BOOKMARKS = 'Bookmarks';

/** Author, subject and keywords. */
function propertiesOf(document: PdfDocument): Block[] {
  return aboutBlocks(
    (['Author', 'Subject', 'Keywords'] as const).map(
      (entry) => [entry, oneLine(withoutControls(document.information(entry)))] as const,
    ),
  );
}

/** Titles of bookmarks by their pages. */
function bookmarksOf(document: PdfDocument, sink: Sink): ReadonlyMap<number, readonly string[]> {
  const byPage = new Map<number, string[]>();
  const bookmarks = document.bookmarks(BOOKMARKS_MAX);
  if (bookmarks.length === BOOKMARKS_MAX) sink.notRead('text', 'limit');
  for (const { title, page } of bookmarks) {
    const titles = byPage.get(page) ?? [];
    byPage.set(page, [...titles, oneLine(withoutControls(title))]);
  }
  return byPage;
}

/** Bookmarks that say what their page does not. */
function bookmarkText(titles: readonly string[] = [], text = ''): string {
  const said = withoutGaps(text);
  return titles.filter((title) => !said.includes(withoutGaps(title))).join('\n');
}

const withoutGaps = (text: string): string => text.replace(/\s+/g, '').toLowerCase();

/** The values of an XFA form, "name: value" each. */
function xfaText(source: string): string {
  const lines: string[] = [];
  let [name, value] = ['', ''];
  try {
    walkXml(source, {
      open: (tag) => {
        [name, value] = [tag, ''];
      },
      text: (text) => {
        value += text;
      },
      close: (tag) => {
        if (tag === name && value.trim() !== '') lines.push(`${name}: ${value.trim()}`);
        [name, value] = ['', ''];
      },
    });
  } catch (error) {
    if (!(error instanceof FarthingError)) throw error;
  }
  return withoutControls(lines.join('\n'));
}

async function showsWriting(page: RenderedPage | undefined): Promise<boolean> {
  if (!page) return false;
  const { grey, width } = await greyOfRaw({ ...page, channels: 4 }, JUDGED_SIDE_PIXELS);
  return looksLikeTextPage(grey, width);
}

const PAGE_NUMBER = /^\W*(?:page\W*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:\/|of)\s*\d{1,5})?\W*$/i;
/** Share of the page's height, above and below, in which its number stands. */
const MARGIN = 0.1;

/** A page's number gets no box: the box of its passage would reach over the whole page. */
function isPageNumber(text: string, { y, height }: Box): boolean {
  return (y + height < MARGIN || y > 1 - MARGIN) && PAGE_NUMBER.test(text.trim());
}

function withDocument<T>(pdfium: Pdfium, bytes: Uint8Array, read: (document: PdfDocument) => T): T {
  const document = openDocument(pdfium, bytes);
  try {
    return read(document);
  } finally {
    document.close();
  }
}

function openDocument(pdfium: Pdfium, bytes: Uint8Array): PdfDocument {
  try {
    return pdfium.open(bytes);
  } catch (error) {
    if (!(error instanceof PdfOpenError)) throw error;
    if (error.reason === 'damaged') throw corrupt('it is no complete PDF');
    throw encrypted('PDF');
  }
}

function checkPages(document: PdfDocument, limits: ExtractLimits): number {
  const pages = document.pageCount;
  if (pages < 1) throw corrupt('it has no pages');
  if (pages > limits.pagesMax) {
    throw tooLarge(`Send documents of at most ${limits.pagesMax} pages.`, {
      pages,
      limit_pages: limits.pagesMax,
    });
  }
  return pages;
}

function titleOf(document: PdfDocument): string | undefined {
  const title = oneLine(document.information('Title'));
  return title.length < 3 || MACHINE_TITLE.test(title) ? undefined : title;
}
