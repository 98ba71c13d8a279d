import type { Block } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { resolvePath } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import { corrupt } from '../reading/refusal.ts';
import { readHtml } from '../text/html.ts';
import { shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { officeReader } from './office.ts';
import { aboutIn, type OfficeContent, picturesOf, type Report, titleIn } from './office-content.ts';

export const epub = officeReader(readEpub);

/** EPUB (ISO/IEC 23736): the chapters of the spine, in order. */
function readEpub(zip: Zip, report: Report): OfficeContent {
  let main = '';
  walkXml(zip.text('META-INF/container.xml') ?? '<x/>', {
    open: (name, attributes) => {
      if (name === 'rootfile' && main === '') main = attributes['full-path'] ?? '';
    },
  });
  const source = zip.text(main);
  if (source === undefined) throw corrupt('the list of its chapters is missing');
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  const parts = new Map<string, string>();
  const chapters: string[] = [];
  walkXml(source, {
    open: (name, { id, href, idref }) => {
      if (name === 'item' && id && href) parts.set(id, resolvePath(folder, decoded(href)));
      const chapter = name === 'itemref' && idref ? parts.get(idref) : undefined;
      if (chapter) chapters.push(chapter);
    },
  });
  const blocks: Block[] = [];
  const locked = encryptedParts(zip);
  const sheets = [...parts.values()]
    .filter((part) => part.endsWith('.css') && !locked.has(part))
    .map((part) => zip.text(part) ?? '');
  if (chapters.length > 0 && chapters.every((chapter) => locked.has(chapter)))
    throw new FarthingError('file_encrypted', 'The book is copy-protected. Send one without protection.');
  for (const [index, chapter] of chapters.entries()) {
    const text = locked.has(chapter) ? undefined : zip.text(chapter);
    if (text === undefined) {
      report('pages', locked.has(chapter) ? 'encrypted' : 'damaged', 1);
      continue;
    }
    const read = readHtml(text, sheets);
    for (const { what, why, count } of read.notRead ?? []) report(what, why, count);
    for (const block of read.blocks) {
      const heading = [shorten(read.title ?? '', 200, report), block.heading].filter(Boolean).join(' › ');
      blocks.push({ ...block, page: index + 1, ...(heading !== '' && { heading }) });
    }
  }
  const title = titleIn(source);
  return {
    blocks: [...blocks, ...aboutIn(source)],
    pages: chapters.length,
    pageKind: 'chapter',
    pictures: picturesOf(zip, parts.values(), report),
    ...(title !== undefined && { title }),
  };
}

/** Parts that only a reader with the seller's key can open. Fonts are not among those that matter. */
function encryptedParts(zip: Zip): Set<string> {
  const parts = new Set<string>();
  walkXml(zip.text('META-INF/encryption.xml') ?? '<x/>', {
    open: (name, { URI }) => {
      if (name === 'CipherReference' && URI) parts.add(resolvePath('', decoded(URI)));
    },
  });
  return parts;
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
