import type { Block } from '../../domain/document.ts';
import type { PageKind } from '../../domain/file/segment.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';

/** What an office file holds. */
export interface OfficeContent {
  readonly title?: string;
  readonly blocks: readonly Block[];
  readonly pictures: readonly EmbeddedPicture[];
  /** How many slides, sheets or chapters it has; both absent where it has no pages. */
  readonly pages?: number;
  readonly pageKind?: PageKind;
}

/** An index takes fewer pictures of one file. */
const PICTURES_MAX = 100;

/** Targets of a part's relationships by their ids (ECMA-376 part 2, 9.3), as names in the archive. */
export function relationships(zip: Zip, part: string): Map<string, string> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const source = zip.text(`${folder}_rels/${part.slice(folder.length)}.rels`);
  const found = new Map<string, string>();
  if (source === undefined) return found;
  walkXml(source, {
    open: (name, { Id, Target, TargetMode }) => {
      if (name !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
      found.set(Id, resolvePath(folder, Target));
    },
  });
  return found;
}

/** A path in an archive, relative to a folder. It cannot lead outside: it is only compared with the names of members. */
export function resolvePath(folder: string, target: string): string {
  const steps = target.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** The pictures among the members of these names. */
export function picturesOf(zip: Zip, names: Iterable<string>, page?: number): EmbeddedPicture[] {
  const found: EmbeddedPicture[] = [];
  for (const name of new Set(names)) {
    if (!/\.(jpe?g|png|gif|tiff?|webp|bmp)$/i.test(name) || found.length >= PICTURES_MAX) continue;
    const bytes = zip.read(name);
    if (bytes) found.push({ bytes, ...(page !== undefined && { page }) });
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
  const short = shorten(title, 300);
  return short === '' ? undefined : short;
}
