import { createHash } from 'node:crypto';
import type { ExtractLimits, FileInfo, Mark, PictureSpec } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { Box } from '../../domain/segment.ts';
import { fromRaw, greyOfRaw } from '../picture/picture.ts';
import { JUDGED_SIDE_PIXELS, looksLikeTextPage } from '../picture/text-page-test.ts';
import type { Sink } from '../read.ts';
import { corrupt, tooLarge, unknownPage } from '../reading/refusal.ts';
import { shorten } from '../text/outline.ts';
import { type PdfDocument, type Pdfium, PdfOpenError, type PdfPage, type RenderedPage } from './pdfium.ts';
import { reflow } from './reflow.ts';

const PDF_TYPE = 'application/pdf';
const TITLE_LENGTH_MAX = 300;

/** Names that programs give by themselves say nothing about a document. */
const MACHINE_TITLE =
  /^(untitled|unknown|document\d*|microsoft (word|powerpoint|excel) - .*|(.*\.(docx?|pptx?|xlsx?|odt|tex|dvi|indd|qxd|pdf|html?)))$/i;

/** A page with fewer letters than this has no text worth the name: it is looked at as a picture. */
const LETTERS_MIN = 8;
/** A page that pictures cover to this share is worth finding by what it shows. */
const PICTURE_SHARE_MIN = 0.1;
const RENDER_SIDE_PIXELS = 640;
/** Pages between two turns of the event loop, so that messages flow. */
const PAGES_PER_TURN = 8;

/** @throws file_encrypted, file_corrupt, document_too_large. */
export function openPdf(pdfium: Pdfium, bytes: Uint8Array, limits: ExtractLimits): FileInfo {
  return withDocument(pdfium, bytes, (document) => {
    const pages = checkPages(document, limits);
    // Damage that hits the start is found before anybody pays.
    if (document.page(0, (page) => page.withText(limits.charactersMax, (text) => text)) === undefined)
      throw corrupt('its first page cannot be read');
    return { kind: 'document', mediaType: PDF_TYPE, pages, title: titleOf(document) };
  });
}

/**
 * Text page by page; pages without text, and pages that show pictures, also as pictures (`limits.pagePicturesMax`).
 * @returns the title, and the pages that show something but have no text. @throws as openPdf, and file_corrupt when no page gives anything.
 */
export async function extractPdf(
  pdfium: Pdfium,
  bytes: Uint8Array,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
  sink: Sink,
): Promise<{ title?: string; textless: number[] }> {
  const document = openDocument(pdfium, bytes);
  try {
    const pages = checkPages(document, limits);
    let characters = 0;
    let pictures = 0;
    const textless: number[] = [];
    for (let index = 0; index < pages; index++) {
      const wantsPicture = pictures < limits.pagePicturesMax;
      const content = document.page(index, (page) =>
        readPage(page, limits.charactersMax - characters, wantsPicture),
      );
      if (content?.text) {
        characters += content.text.length;
        if (characters >= limits.charactersMax) throw tooManyCharacters(limits);
        await sink.block({ text: content.text, page: index + 1, marks: content.marks });
      }
      // Letters may be drawn as curves, too, where no picture is.
      if (content?.isBare && (content.shows || (await showsWriting(content.rendered))))
        textless.push(index + 1);
      if (content?.rendered) {
        pictures++;
        const { data, width, height } = content.rendered;
        const digest = createHash('sha256').update(data).digest();
        const place = { digest, page: index + 1 };
        await sink.picture(await fromRaw({ data, width, height, channels: 4 }, spec, place));
      }
      sink.progress((index + 1) / pages);
      if (index % PAGES_PER_TURN === 0) await new Promise(setImmediate);
    }
    if (characters === 0 && pictures === 0) throw corrupt('none of its pages has text or can be shown');
    return { title: titleOf(document), textless };
  } finally {
    document.close();
  }
}

/** One page (from 1) as a picture. @throws as openPdf; field_invalid for a page that the document doesn't have. */
export function renderPdfPage(
  pdfium: Pdfium,
  bytes: Uint8Array,
  limits: ExtractLimits,
  { page, longSide }: { page: number; longSide: number },
): RenderedPage {
  return withDocument(pdfium, bytes, (document) => {
    const pages = checkPages(document, limits);
    if (page > pages) throw unknownPage(page, pages);
    const rendered = document.page(page - 1, (opened) => opened.render(longSide));
    if (!rendered) throw corrupt(`its page ${page} cannot be read`);
    return rendered;
  });
}

export function tooManyCharacters(limits: ExtractLimits): FarthingError {
  return tooLarge(`Send documents of at most ${limits.charactersMax} characters of text.`, {
    limit_characters: limits.charactersMax,
  });
}

function readPage(page: PdfPage, charactersMax: number, wantsPicture: boolean) {
  const { text, marks } = page.withText(charactersMax, (raw, boxOf) => {
    const { text, lines } = reflow(raw);
    const marks = lines.flatMap(({ at, from, to }): Mark[] => {
      const box = boxOf(from, to);
      return box && !isPageNumber(raw.slice(from, to), box) ? [{ at, box }] : [];
    });
    return { text, marks };
  });
  const isBare = (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < LETTERS_MIN;
  const shows = page.pictureShare() >= PICTURE_SHARE_MIN;
  const rendered = wantsPicture && (isBare || shows) ? page.render(RENDER_SIDE_PIXELS) : undefined;
  return { text, marks, isBare, shows, rendered };
}

async function showsWriting(page: RenderedPage | undefined): Promise<boolean> {
  if (!page) return false;
  const { grey, width } = await greyOfRaw({ ...page, channels: 4 }, JUDGED_SIDE_PIXELS);
  return looksLikeTextPage(grey, width);
}

const NUMBER = /^\W*(?:page\W*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:\/|of)\s*\d{1,5})?\W*$/i;
/** Shares of the page's height in which its number stands. */
const MARGIN = 0.1;

/** A page's number has no place in a passage: with it, the passage's box would reach over the whole page. */
function isPageNumber(text: string, { y, height }: Box): boolean {
  return (y + height < MARGIN || y > 1 - MARGIN) && NUMBER.test(text.trim());
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
    throw new FarthingError('file_encrypted', 'The PDF is encrypted. Send it without a password.');
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
  const title = shorten(document.information('Title'), TITLE_LENGTH_MAX);
  return title.length < 3 || MACHINE_TITLE.test(title) ? undefined : title;
}
