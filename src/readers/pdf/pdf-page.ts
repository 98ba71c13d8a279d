import type { Box } from '@farthing/protocol/file/segment';
import type { EdgesOf } from './columns.ts';
import { type PageExtras, pageExtras } from './pdf-annotations.ts';
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
/** Of 255: lighter colours are white. */
const WHITE_MIN = 245;
const JUDGED_SIDE_PIXELS = 1000;

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
      const { shown, ...unseen } = this.#withoutUnseen(text, whole);
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
   * Blanks out what nobody sees: text that is drawn invisibly with no picture below it (above one it is the text of a scan), white
   * on white, or beside the page.
   */
  #withoutUnseen(text: number, whole: string): Unseen & { shown: string } {
    const { wasmExports: calls } = this.#module;
    const units = whole.split('');
    let [last, isUnseen, hidden, unmapped] = [0, false, 0, 0];
    let isScan: boolean | undefined;
    let rendered: RenderedPage | undefined;
    for (let at = 0; at < units.length; at++) {
      const index = calls.FPDFText_GetCharIndexFromTextIndex(text, at);
      if (index < 0) continue;
      if (calls.FPDFText_GetUnicode(text, index) === 0) unmapped++;
      const object = calls.FPDFText_GetTextObject(text, index);
      if (object !== 0 && object !== last) {
        last = object;
        const mode = calls.FPDFTextObj_GetTextRenderMode(object);
        if (INVISIBLE_MODES.includes(mode)) {
          isScan ??= this.pictureShare() >= SCAN_SHARE_MIN;
          isUnseen = !isScan;
        } else if (this.#isOffPage(text, index)) isUnseen = true;
        else if (this.#isWhite(text, index)) {
          rendered ??= this.render(JUDGED_SIDE_PIXELS);
          isUnseen = this.#isBlank(rendered, this.#boxOf(text, at, at + 1));
        } else isUnseen = false;
        if (isUnseen) hidden++;
      }
      if (isUnseen && !/\s/.test(units[at]!)) units[at] = '\0';
    }
    return { shown: hidden > 0 ? units.join('') : whole, hidden, unmapped };
  }

  #isWhite(text: number, index: number): boolean {
    return withMemory(this.#module, 16, (memory) => {
      const { FPDFText_GetFillColor } = this.#module.wasmExports;
      if (!FPDFText_GetFillColor(text, index, memory, memory + 4, memory + 8, memory + 12)) return false;
      const view = new DataView(this.#module.HEAPU8.buffer, memory, 16);
      const [red, green, blue, alpha] = [0, 4, 8, 12].map((offset) => view.getUint32(offset, true));
      return alpha === 0 || Math.min(red!, green!, blue!) >= WHITE_MIN;
    });
  }

  #isOffPage(text: number, index: number): boolean {
    return withMemory(this.#module, 40, (memory) => {
      const { FPDFText_GetCharBox } = this.#module.wasmExports;
      if (!FPDFText_GetCharBox(text, index, memory, memory + 8, memory + 16, memory + 24)) return false;
      const [x0, x1, y0, y1] = this.#doubles(memory) as [number, number, number, number];
      if (x1 <= x0 || y1 <= y0) return false;
      const [x, y] = this.#onPage(memory + 32, (x0 + x1) / 2, (y0 + y1) / 2);
      return x < 0 || y < 0 || x > BOX_UNITS || y > BOX_UNITS;
    });
  }

  /** Whether a part of the page shows one colour: what is written there cannot be read. */
  #isBlank({ data, width, height }: RenderedPage, box: Box | undefined): boolean {
    if (!box) return false;
    const [x0, x1] = [Math.floor(box.x * width), Math.ceil((box.x + box.width) * width)];
    const [y0, y1] = [Math.floor(box.y * height), Math.ceil((box.y + box.height) * height)];
    for (let y = y0; y < Math.min(y1, height); y++)
      for (let x = x0; x < Math.min(x1, width); x++) {
        const pixel = (y * width + x) * 4;
        if (Math.min(data[pixel]!, data[pixel + 1]!, data[pixel + 2]!) < WHITE_MIN) return false;
      }
    return true;
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
