import type { Block } from '@farthing/protocol/document';
import type { PageKind } from '@farthing/protocol/file/segment';
import { folderOf, type Relationship } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import type { Sink } from '../reading/sink.ts';
import { upTo } from '../reading/up-to.ts';
import { oneLine } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';

/** What an office file holds. */
export interface OfficeContent {
  readonly title?: string;
  readonly blocks: readonly Block[];
  readonly pictures: readonly EmbeddedPicture[];
  /** How many slides, sheets or chapters it has; both absent where it has no pages. */
  readonly pages?: number;
  readonly pageKind?: PageKind;
  /** Files inside it that become items of their own. */
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Takes what stays unread. */
export type Report = Sink['notRead'];

/** Bounds the memory for what an index may take of one file. */
export const PICTURES_MAX = 100;
const ATTACHMENTS_MAX = 100;

/** The pictures among the members of these names. */
export function picturesOf(
  zip: Zip,
  names: Iterable<string>,
  report: Report,
  page?: number,
): EmbeddedPicture[] {
  const pictures = [...new Set(names)].filter(
    (name) => /\.(jpe?g|png|gif|tiff?|webp|bmp)$/i.test(name) && zip.has(name),
  );
  return upTo(PICTURES_MAX, pictures, 'pictures', report).flatMap((name) => {
    const bytes = zip.read(name);
    return bytes ? [{ bytes, ...(page !== undefined && { page }) }] : [];
  });
}

/** Documents inside a document. Objects of programs that nobody can open are not among them. */
export function attachmentsOf(zip: Zip, related: readonly Relationship[], report: Report): Attachment[] {
  const found: Attachment[] = [];
  for (const { type, target } of related) {
    if (type !== 'package' && type !== 'oleObject') continue;
    const bytes = type === 'package' ? zip.read(target) : undefined;
    if (bytes && found.length < ATTACHMENTS_MAX)
      found.push({ name: target.slice(folderOf(target).length), bytes });
    else report('attachments', bytes ? 'limit' : 'unsupported', 1);
  }
  return found;
}

/** `dc:title` of a part; undefined where there is none. */
export function titleIn(source: string | undefined): string | undefined {
  if (source === undefined) return undefined;
  let title = '';
  let inside = false;
  walkXml(source, {
    open: (name) => {
      inside = name === 'title' && title === '';
    },
    text: (text) => {
      if (inside) title += text;
    },
    close: () => {
      inside = false;
    },
  });
  const line = oneLine(title);
  return line === '' ? undefined : line;
}
