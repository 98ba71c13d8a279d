import type { Box } from '@farthing/protocol/file/segment';
import { type Colour, isTiny } from '../reading/visibility.ts';
import type { EdgesOf } from './columns.ts';
import { type PageExtras, pageExtras } from './pdf-annotations.ts';
import { colourAt, type Doubt, isSame, PageLayout } from './pdf-layout.ts';
import { type Module, readUtf16, withMemory } from './pdfium-module.ts';

const IMAGE_OBJECT = 3; // FPDF_PAGEOBJ_IMAGE
const FORM_OBJECT = 5; // FPDF_PAGEOBJ_FORM: a drawing, which may hold pictures
const BGRX = 3; // FPDFBitmap_BGRx
const WHITE = 0xffffffff;
const RENDER_FLAGS = 0x01 | 0x10 | 0x200; // FPDF_ANNOT | FPDF_REVERSE_BYTE_ORDER | FPDF_RENDER_LIMITEDIMAGECACHE
/** Objects that are looked at for pictures: some hundredths of a second. No page of prose has more. */
const OBJECTS_MAX = 100_000;
/** Boxes have four decimals. */
const BOX_UNITS = 10_000;
/** Characters of a line whose boxes are read: both ends, and enough between them to know its height. */
const CHARACTERS_SAMPLED = 12;

const INVISIBLE_MODES = [3, 7]; // FPDF_TEXTRENDERMODE_INVISIBLE, FPDF_TEXTRENDERMODE_CLIP
/** A page that pictures cover to this share is a scan: invisible text is what was recognised in it. */
const SCAN_SHARE_MIN = 0.5;
const JUDGED_SIDE_PIXELS = 1000;
const RIGHT_TO_LEFT = /[\u0590-\u08ff]/;
/** Characters of words with a space between each two; those of formulas stay apart. */
const SET_APART = /(?<!\S)[\p{L}\p{N}.,:!?&’'-](?: [\p{L}\p{N}.,:!?&’'-]){3,}(?!\S)/gu;
const LETTERS_APART_MIN = 4;
/** Gap between letters of one word, in heights of a character; and from how many such gaps on one is between words. */
const GAP_HEIGHTS_MAX = 0.6;
const GAP_OF_WORDS = 2;
/** Points between the parts of one shape. */
const SAME_POINTS = 0.01;
const LAM_ALEF = /^ل[اأإآٱ]$/;

/** Characters that one object of the page draws. */
interface TextRun {
  readonly object: number;
  /** Of its first character among those of the page's text. */
  readonly index: number;
  readonly from: number;
  to: number;
  isUnseen: boolean;
}

/** What of a page's text is not given. */
export interface Unseen {
  /** Pieces of text that nobody sees. */
  readonly hidden: number;
  /** Characters of which the file does not say what letters they are. */
  readonly unmapped: number;
}

const NOTHING_UNSEEN: Unseen = { hidden: 0, unmapped: 0 };

/** Where parts of a page's text stand. */
export interface Places {
  readonly boxOf: (from: number, to: number) => Box | undefined;
  /** In points of the page before it is cropped and rotated. */
  readonly edgesOf: EdgesOf;
}

const NOWHERE: Places = { boxOf: () => undefined, edgesOf: () => undefined };

export interface RenderedPage {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export class PdfPage {
  readonly #module: Module;
  readonly #handle: number;

  readonly #form: number;

  constructor(module: Module, handle: number, form: number) {
    this.#module = module;
    this.#handle = handle;
    this.#form = form;
  }

  /** Form fields, notes and files that are pinned to the page. */
  extras(): PageExtras {
    return pageExtras(this.#module, this.#handle, this.#form);
  }

  /** Width and height in points (1/72 inch). */
  get size(): { width: number; height: number } {
    const { wasmExports: calls } = this.#module;
    return { width: calls.FPDF_GetPageWidthF(this.#handle), height: calls.FPDF_GetPageHeightF(this.#handle) };
  }

  /**
   * Gives `read` the page's text in PDFium's order, at most `charactersMax` of it. Lines end with "\r\n"; U+0002 is a hyphen
   * at the end of a line, U+0000 a character that nobody sees. `places` says where parts of the text stand; it works only while
   * `read` runs.
   */
  withText<T>(charactersMax: number, read: (text: string, places: Places, unseen: Unseen) => T): T {
    const { wasmExports: calls } = this.#module;
    const text = calls.FPDFText_LoadPage(this.#handle);
    if (text === 0) return read('', NOWHERE, NOTHING_UNSEEN);
    try {
      const count = Math.min(calls.FPDFText_CountChars(text), charactersMax);
      if (count <= 0) return read('', NOWHERE, NOTHING_UNSEEN);
      const whole = withMemory(this.#module, (count + 1) * 2, (buffer) => {
        const units = calls.FPDFText_GetText(text, 0, count, buffer);
        return readUtf16(this.#module, buffer, Math.max(0, units - 1) * 2);
      });
      const { shown, ...unseen } = this.#withoutUnseen(
        text,
        this.#joined(text, this.#withLigatures(text, whole)),
      );
      const places: Places = {
        boxOf: (from, to) => this.#boxOf(text, from, to),
        edgesOf: (at) => this.#edgesOf(text, at),
      };
      return read(shown, places, unseen);
    } finally {
      calls.FPDFText_ClosePage(text);
    }
  }

  /**
   * Letters of a script that runs to the left, which one shape shows together, stand the wrong way round: PDFium turns the shapes of a
   * line round, and the letters of each with them. A lam before an alef is one shape in nearly each font; no font has one for the
   * other order, so it tells when a file has them turned round itself. Where each letter has its part of the shape, their places tell.
   */
  #withLigatures(text: number, whole: string): string {
    if (!RIGHT_TO_LEFT.test(whole)) return whole;
    const shapes: { from: number; to: number }[] = [];
    const units = whole.split('');
    let turned = false;
    let before: readonly [number, number] | undefined;
    for (let at = 0; at < whole.length; at++) {
      const edges = RIGHT_TO_LEFT.test(whole[at]!) ? this.#edgesOf(text, at) : undefined;
      const isSame =
        edges && before && edges[0] === before[0] && edges[1] === before[1] && edges[1] > edges[0];
      if (isSame && shapes.at(-1)?.to === at) shapes.at(-1)!.to = at + 1;
      else if (isSame) shapes.push({ from: at - 1, to: at + 1 });
      if (edges && before && edges[0] > before[0] && Math.abs(edges[0] - before[1]) < SAME_POINTS) {
        [units[at - 1], units[at]] = [whole[at]!, whole[at - 1]!];
        turned = true;
      }
      before = edges;
    }
    const isRight = shapes.some(({ from, to }) => LAM_ALEF.test(whole.slice(from, to)));
    if (shapes.length === 0 || isRight) return turned ? units.join('') : whole;
    for (const { from, to } of shapes)
      for (const [index, letter] of units.slice(from, to).reverse().entries()) units[from + index] = letter;
    return units.join('');
  }

  /**
   * Joins letters that are set apart (`I N V O I C E`): PDFium takes each gap for a space. One that the file does not have is blanked
   * out, unless it is as wide as between words.
   */
  #joined(text: number, whole: string): string {
    const { FPDFText_GetCharIndexFromTextIndex: indexOf } = this.#module.wasmExports;
    const units = whole.split('');
    for (const { index: from, 0: run } of whole.matchAll(SET_APART)) {
      if ((run.match(/\p{L}/gu)?.length ?? 0) < LETTERS_APART_MIN) continue;
      const gaps: { at: number; width: number }[] = [];
      for (let at = from + 1; at < from + run.length; at += 2) {
        const [before, behind] = [this.#edgesOf(text, at - 1), this.#edgesOf(text, at + 1)];
        const own = this.#edgesOf(text, at);
        // A space of the file has a width.
        if (!before || !behind || (own && own[1] > own[0])) continue;
        gaps.push({ at, width: Math.max(behind[0] - before[1], before[0] - behind[1]) });
      }
      const widths = gaps.map(({ width }) => width).sort((one, other) => one - other);
      const usual = widths[widths.length >> 1] ?? Number.POSITIVE_INFINITY;
      if (
        2 * gaps.length < run.length >> 1 ||
        usual > GAP_HEIGHTS_MAX * this.#heightOf(text, indexOf(text, from))
      )
        continue;
      for (const { at, width } of gaps) if (width < GAP_OF_WORDS * usual) units[at] = '\0';
    }
    return units.join('');
  }

  /**
   * Blanks out what nobody sees: text that is drawn invisibly with no picture below it (above one it is the text of a scan), too small
   * or beside the page, and what makes no difference to the page as it is shown: in the colour of its ground, below something else, cut
   * off, on a layer that is off.
   */
  #withoutUnseen(text: number, whole: string): Unseen & { shown: string } {
    const { wasmExports: calls } = this.#module;
    const runs: TextRun[] = [];
    let unmapped = 0;
    for (let at = 0; at < whole.length; at++) {
      const index = calls.FPDFText_GetCharIndexFromTextIndex(text, at);
      if (index < 0) continue;
      if (calls.FPDFText_GetUnicode(text, index) === 0) unmapped++;
      const object = calls.FPDFText_GetTextObject(text, index);
      const last = runs.at(-1);
      if (object === 0) continue;
      if (last?.object === object) last.to = at + 1;
      else runs.push({ object, index, from: at, to: at + 1, isUnseen: false });
    }
    const layout = new PageLayout(this.#module, this.#handle);
    let isScan: boolean | undefined;
    const doubtful: (TextRun & { readonly doubt: Doubt })[] = [];
    for (const run of runs) {
      if (whole.slice(run.from, run.to).trim() === '') continue;
      if (INVISIBLE_MODES.includes(calls.FPDFTextObj_GetTextRenderMode(run.object))) {
        isScan ??= this.pictureShare() >= SCAN_SHARE_MIN;
        run.isUnseen = !isScan;
      } else if (this.#isBesidePage(text, run) || this.#isTiny(text, run)) run.isUnseen = true;
      else {
        const doubt = layout.doubt(run.object, this.#inkOf(text, run.index));
        if (doubt === 'other') isScan ??= this.pictureShare() >= SCAN_SHARE_MIN;
        // Some programs draw the scan above its text.
        if (doubt && !(doubt === 'other' && isScan)) doubtful.push(Object.assign(run, { doubt }));
      }
    }
    if (doubtful.length > 0) this.#compare(text, doubtful);
    const units = whole.split('');
    let hidden = 0;
    for (const { from, to, isUnseen } of runs) {
      if (!isUnseen) continue;
      hidden++;
      for (let at = from; at < to; at++) if (!/\s/.test(units[at]!)) units[at] = '\0';
    }
    return { shown: hidden > 0 ? units.join('') : whole, hidden, unmapped };
  }

  /** Shows the page with and without the runs: one that makes no difference is not seen. */
  #compare(text: number, runs: readonly (TextRun & { readonly doubt: Doubt })[]): void {
    const { FPDFPageObj_SetIsActive } = this.#module.wasmExports;
    const shown = this.render(JUDGED_SIDE_PIXELS);
    const switchTo = (isActive: number): void => {
      for (const { object } of runs) FPDFPageObj_SetIsActive(object, isActive);
    };
    switchTo(0);
    try {
      const without = this.render(JUDGED_SIDE_PIXELS);
      for (const run of runs)
        run.isUnseen = isSame(shown, without, this.#boxOf(text, run.from, run.to), run.doubt);
    } finally {
      switchTo(1);
    }
  }

  /** Undefined for a pattern. */
  #inkOf(text: number, index: number): Colour | undefined {
    return withMemory(this.#module, 16, (memory) => {
      const { FPDFText_GetFillColor } = this.#module.wasmExports;
      if (!FPDFText_GetFillColor(text, index, memory, memory + 4, memory + 8, memory + 12)) return undefined;
      return colourAt(this.#module, memory);
    });
  }

  #isTiny(text: number, { index }: TextRun): boolean {
    const size = this.#heightOf(text, index);
    return size > 0 && isTiny(size);
  }

  /** Points of the longer side of a character; 0 where it has none. */
  #heightOf(text: number, index: number): number {
    return withMemory(this.#module, 16, (memory) => {
      if (!this.#module.wasmExports.FPDFText_GetLooseCharBox(text, index, memory)) return 0;
      const [left, top, right, bottom] = this.#floats(memory);
      return Math.max(Math.abs(right - left), Math.abs(top - bottom));
    });
  }

  #isBesidePage(text: number, { index }: TextRun): boolean {
    return withMemory(this.#module, 40, (memory) => {
      const { FPDFText_GetCharBox } = this.#module.wasmExports;
      if (!FPDFText_GetCharBox(text, index, memory, memory + 8, memory + 16, memory + 24)) return false;
      const [x0, x1, y0, y1] = this.#doubles(memory) as [number, number, number, number];
      if (x1 <= x0 || y1 <= y0) return false;
      const [x, y] = this.#onPage(memory + 32, (x0 + x1) / 2, (y0 + y1) / 2);
      return x < 0 || y < 0 || x > BOX_UNITS || y > BOX_UNITS;
    });
  }

  #boxOf(text: number, from: number, to: number): Box | undefined {
    const { wasmExports: calls } = this.#module;
    const samples = Math.min(CHARACTERS_SAMPLED, to - from);
    let [left, top, right, bottom] = [BOX_UNITS, BOX_UNITS, 0, 0];
    return withMemory(this.#module, 40, (memory) => {
      for (let sample = 0; sample < samples; sample++) {
        // The first and the last character are among them: they hold the edges.
        const at = from + Math.round((sample * (to - 1 - from)) / Math.max(1, samples - 1));
        const index = calls.FPDFText_GetCharIndexFromTextIndex(text, at);
        if (index < 0) continue;
        if (!calls.FPDFText_GetCharBox(text, index, memory, memory + 8, memory + 16, memory + 24)) continue;
        const [x0, x1, y0, y1] = this.#doubles(memory) as [number, number, number, number];
        if (x1 <= x0 || y1 <= y0) continue;
        for (const [x, y] of [
          this.#onPage(memory + 32, x0, y0),
          this.#onPage(memory + 32, x1, y1),
        ] as const) {
          left = Math.min(left, x);
          right = Math.max(right, x);
          top = Math.min(top, y);
          bottom = Math.max(bottom, y);
        }
      }
      if (right <= left || bottom <= top) return undefined;
      const unit = (value: number): number => Math.min(1, Math.max(0, value / BOX_UNITS));
      return { x: unit(left), y: unit(top), width: unit(right - left), height: unit(bottom - top) };
    });
  }

  #edgesOf(text: number, at: number): [number, number] | undefined {
    const { FPDFText_GetCharBox, FPDFText_GetCharIndexFromTextIndex } = this.#module.wasmExports;
    const index = FPDFText_GetCharIndexFromTextIndex(text, at);
    return withMemory(this.#module, 32, (memory) => {
      if (index < 0 || !FPDFText_GetCharBox(text, index, memory, memory + 8, memory + 16, memory + 24))
        return undefined;
      const [left, right] = this.#doubles(memory);
      return [left!, right!];
    });
  }

  #doubles(pointer: number): number[] {
    const view = new DataView(this.#module.HEAPU8.buffer, pointer, 32);
    return [0, 8, 16, 24].map((offset) => view.getFloat64(offset, true));
  }

  /** A point in units from the upper left corner of the page as it is shown: cropped and rotated. */
  #onPage(memory: number, x: number, y: number): [number, number] {
    const { wasmExports: calls } = this.#module;
    calls.FPDF_PageToDevice(this.#handle, 0, 0, BOX_UNITS, BOX_UNITS, 0, x, y, memory, memory + 4);
    const view = new DataView(this.#module.HEAPU8.buffer, memory, 8);
    return [view.getInt32(0, true), view.getInt32(4, true)];
  }

  /** About which share of the page pictures cover, 0..1. */
  pictureShare(): number {
    const { wasmExports: calls } = this.#module;
    return withMemory(this.#module, 16, (corners) => {
      if (!calls.FPDF_GetPageBoundingBox(this.#handle, corners)) return 0;
      // FS_RECTF: left, top, right, bottom. The crop box of the page before rotation, which may lie anywhere.
      const [x0, y1, x1, y0] = this.#floats(corners);
      if (!(x1 > x0 && y1 > y0)) return 0;
      let area = 0;
      const count = Math.min(calls.FPDFPage_CountObjects(this.#handle), OBJECTS_MAX);
      for (let index = 0; index < count; index++) {
        const object = calls.FPDFPage_GetObject(this.#handle, index);
        if (![IMAGE_OBJECT, FORM_OBJECT].includes(calls.FPDFPageObj_GetType(object))) continue;
        if (!calls.FPDFPageObj_GetBounds(object, corners, corners + 4, corners + 8, corners + 12)) continue;
        const [left, bottom, right, top] = this.#floats(corners);
        const wide = Math.min(right, x1) - Math.max(left, x0);
        const high = Math.min(top, y1) - Math.max(bottom, y0);
        if (wide > 0 && high > 0) area += wide * high;
      }
      return Math.min(1, area / ((x1 - x0) * (y1 - y0)));
    });
  }

  #floats(pointer: number): [number, number, number, number] {
    const view = new DataView(this.#module.HEAPU8.buffer, pointer, 16);
    return [0, 4, 8, 12].map((offset) => view.getFloat32(offset, true)) as [number, number, number, number];
  }

  /** The page as a picture whose longer side is `longSide` pixels: four bytes a pixel, the fourth unused. */
  render(longSide: number): RenderedPage {
    const { wasmExports: calls } = this.#module;
    const page = this.size;
    if (!(page.width > 0 && page.height > 0)) throw new RangeError('a page without an area');
    const scale = longSide / Math.max(page.width, page.height);
    const width = Math.max(1, Math.round(page.width * scale));
    const height = Math.max(1, Math.round(page.height * scale));
    return withMemory(this.#module, width * height * 4, (pixels) => {
      const bitmap = calls.FPDFBitmap_CreateEx(width, height, BGRX, pixels, width * 4);
      if (bitmap === 0) throw new RangeError('not enough memory for a page');
      try {
        calls.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
        calls.FPDF_RenderPageBitmap(bitmap, this.#handle, 0, 0, width, height, 0, RENDER_FLAGS);
        return { data: this.#module.HEAPU8.slice(pixels, pixels + width * height * 4), width, height };
      } finally {
        calls.FPDFBitmap_Destroy(bitmap);
      }
    });
  }
}
