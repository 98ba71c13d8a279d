import type { Block } from '@farthing/protocol/document';
import readExif, { type Exif } from 'exif-reader';
import sharp from 'sharp';
import type { Sink } from '../reading/sink.ts';
import { withoutControls } from '../text/charset.ts';
import { type PageNode, PageStyles } from '../text/html-styles.ts';
import { cut, oneLine } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';

const TEXT_LENGTH_MAX = 5_000;
/** Captions that programs write by themselves. */
const NO_CAPTION =
  /^(ascii|unicode|default|untitled|olympus digital camera|sony dsc|digital camera|samsung|null|file written by adobe.*|created with (the )?gimp.*|\s*)$/i;

/** Data sets of IPTC's application record (IIM 4.2, record 2) that hold text. */
const IPTC: Readonly<Record<number, string>> = {
  5: 'Title',
  25: 'Keywords',
  80: 'Artist',
  90: 'City',
  101: 'Country',
  105: 'Headline',
  120: 'Caption',
};
const IPTC_MARK = 0x1c;
const APPLICATION_RECORD = 2;

/** Elements of XMP (ISO 16684-1) that hold text. */
const XMP: Readonly<Record<string, string>> = {
  'dc:title': 'Title',
  'dc:description': 'Caption',
  'dc:subject': 'Keywords',
  'dc:creator': 'Artist',
  'photoshop:City': 'City',
  'photoshop:Country': 'Country',
  'photoshop:Headline': 'Headline',
};

/** Comments of PNG (its specification, 11.3.3.2) that hold text. */
const PNG_KEYWORDS = ['Title', 'Author', 'Description', 'Copyright', 'Comment'];

/** The text in a picture's metadata: captions first, then date and camera. Undefined where there is none. */
export async function captionOf(
  bytes: Uint8Array,
  mediaType: string,
  report: Sink['notRead'],
): Promise<Block | undefined> {
  if (mediaType === 'image/bmp') return undefined;
  const words = new Map<string, Set<string>>();
  const add = (name: string, value: unknown): void => {
    const line = typeof value === 'string' ? oneLine(withoutControls(value)) : '';
    if (NO_CAPTION.test(line)) return;
    // Two or three places often hold the same caption.
    if ([...words.values()].some((texts) => texts.has(line))) return;
    words.set(name, (words.get(name) ?? new Set()).add(line));
  };
  if (mediaType === 'image/svg+xml') addSvg(bytes, add, report);
  const { exif, iptc, xmp, comments } = await sharp(bytes, { limitInputPixels: false }).metadata();
  if (xmp) addXmp(xmp, add);
  if (iptc) addIptc(iptc, add);
  for (const { keyword, text } of comments ?? []) if (PNG_KEYWORDS.includes(keyword)) add(keyword, text);
  if (exif) addExif(exif, add);
  const lines = [...words].map(
    ([name, texts]) => `${name}: ${[...texts].map((text) => cut(text, TEXT_LENGTH_MAX, report)).join(', ')}`,
  );
  return lines.length === 0 ? undefined : { text: lines.join('\n'), source: 'metadata' };
}

type Add = (name: string, value: unknown) => void;

function addExif(bytes: Buffer, add: Add): void {
  let exif: Exif;
  try {
    exif = readExif(bytes);
  } catch {
    // Exif is often damaged. The picture itself is intact.
    return;
  }
  const { Image, Photo, GPSInfo } = exif;
  add('Caption', Image?.ImageDescription);
  add('Title', wide(Image?.XPTitle));
  add('Subject', wide(Image?.XPSubject));
  add('Keywords', wide(Image?.XPKeywords));
  add('Comment', wide(Image?.XPComment));
  add('Comment', comment(Photo?.UserComment));
  add('Artist', Image?.Artist);
  add('Copyright', Image?.Copyright);
  add('Taken', dateOf(Photo?.DateTimeOriginal ?? Image?.DateTime));
  add('Camera', [Image?.Make, Image?.Model].filter((text) => typeof text === 'string').join(' '));
  add('Place', place(GPSInfo));
}

/** UTF-16, as Windows writes it. */
function wide(value: unknown): string | undefined {
  if (!Array.isArray(value) && !(value instanceof Uint8Array)) return undefined;
  return Buffer.from(value as Uint8Array)
    .toString('utf16le')
    .replaceAll('\0', '');
}

/** Eight bytes name the character set (Exif 2.32, 4.6.5). */
function comment(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!(value instanceof Uint8Array) || value.length <= 8) return undefined;
  const bytes = Buffer.from(value);
  const isWide = bytes.toString('latin1', 0, 7) === 'UNICODE';
  return bytes.toString(isWide ? 'utf16le' : 'utf8', 8).replaceAll('\0', '');
}

function dateOf(value: unknown): string | undefined {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  return value.toISOString().slice(0, 16).replace('T', ' ');
}

function place(gps: Exif['GPSInfo']): string | undefined {
  const latitude = degrees(gps?.GPSLatitude, gps?.GPSLatitudeRef === 'S');
  const longitude = degrees(gps?.GPSLongitude, gps?.GPSLongitudeRef === 'W');
  return latitude === undefined || longitude === undefined ? undefined : `${latitude}, ${longitude}`;
}

function degrees(parts: unknown, isNegative: boolean): string | undefined {
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [whole, minutes, seconds] = parts.map(Number) as [number, number, number];
  const value = whole + minutes / 60 + seconds / 3600;
  return Number.isFinite(value) && value <= 180 ? (isNegative ? -value : value).toFixed(5) : undefined;
}

function addXmp(bytes: Buffer, add: Add): void {
  addXml(bytes.toString('utf8'), XMP, add);
}

/** Title, description and the text that a drawing shows. */
function addSvg(bytes: Uint8Array, add: Add, report: Sink['notRead']): void {
  const source = Buffer.from(bytes).toString('utf8');
  const sheets = Array.from(
    source.matchAll(/<style[^>]{0,200}>(?:\s*<!\[CDATA\[)?([^<\]]*)/g),
    ([, sheet]) => sheet!,
  );
  // Where nothing is drawn beside letters, they stand on white.
  const isWhole = !/<(?:rect|path|circle|ellipse|polygon|image|use|pattern|foreignObject)\b/i.test(source);
  const styles = new PageStyles(sheets, isWhole);
  const path: (PageNode & { isHidden: boolean })[] = [];
  addXml(source, { title: 'Title', desc: 'Caption', text: 'Text' }, add, {
    open: (name, attribs) => {
      const parent = path.at(-1) ?? null;
      const node = { type: 'tag', name, attribs, parent, isHidden: parent?.isHidden ?? false };
      // An image is its own ground: it does not part its text from what is around it.
      node.isHidden ||= name !== 'svg' && styles.hidesAll(node);
      path.push(node);
    },
    close: () => path.pop(),
    hides: (words) => {
      const node = path.at(-1);
      const hides =
        node !== undefined &&
        path.some(({ name }) => name === 'text') &&
        (node.isHidden || styles.hidesText(node));
      if (hides && words.trim() !== '') report('hidden_text', 'hidden', 1);
      return hides;
    },
  });
}

interface Watch {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(): void;
  /** Whether text in this place is not seen. */
  hides(text: string): boolean;
}

function addXml(source: string, wanted: Readonly<Record<string, string>>, add: Add, watch?: Watch): void {
  const path: string[] = [];
  let text = '';
  const flush = (): void => {
    const name = path.map((step) => wanted[step]).findLast((label) => label !== undefined);
    if (name !== undefined) add(name, text);
    text = '';
  };
  try {
    walkXml(source, {
      open: (name, attributes, fullName) => {
        flush();
        path.push(fullName);
        watch?.open(name, attributes);
      },
      text: (more) => {
        if (!watch?.hides(more)) text += more;
      },
      close: () => {
        flush();
        path.pop();
        watch?.close();
      },
    });
  } catch {
    // Damaged, or no XML. The picture itself is intact.
  }
}

function addIptc(bytes: Buffer, add: Add): void {
  // The records may lie within a block of Photoshop: search for their marks.
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt16BE(at + 3);
    const known = bytes[at] === IPTC_MARK && bytes[at + 1] === APPLICATION_RECORD;
    if (!known || length > 32_767 || at + 5 + length > bytes.length) {
      at++;
      continue;
    }
    const name = IPTC[bytes[at + 2]!];
    if (name) add(name, bytes.toString('utf8', at + 5, at + 5 + length));
    at += 5 + length;
  }
}
