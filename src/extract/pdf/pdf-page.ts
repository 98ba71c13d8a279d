import type { Box } from '../../domain/file/segment.ts';
import { type Module, readUtf16, withMemory } from './pdfium-module.ts';

const IMAGE_OBJECT = 3; // FPDF_PAGEOBJ_IMAGE
const FORM_OBJECT = 5; // FPDF_PAGEOBJ_FORM: a drawing, which may hold pictures
const BGRX = 3; // FPDFBitmap_BGRx
const WHITE = 0xffffffff;
const RENDER_FLAGS = 0x01 | 0x10 | 0x200; // FPDF_ANNOT | FPDF_REVERSE_BYTE_ORDER | FPDF_RENDER_LIMITEDIMAGECACHE
const OBJECTS_MAX = 2_000;
/** Boxes have four decimals. */
const BOX_UNITS = 10_000;
/** Characters of a line whose boxes are read: both ends, and enough between them to know its height. */
const CHARACTERS_SAMPLED = 12;

export interface RenderedPage {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export class PdfPage {
  readonly #module: Module;
  readonly #handle: number;

  constructor(module: Module, handle: number) {
    this.#module = module;
    this.#handle = handle;
  }

  /** Width and height in points (1/72 inch). */
  get size(): { width: number; height: number } {
    const { wasmExports: calls } = this.#module;
    return { width: calls.FPDF_GetPageWidthF(this.#handle), height: calls.FPDF_GetPageHeightF(this.#handle) };
  }

  /**
   * Gives `read` the page's text in PDFium's order, at most `charactersMax` of it. Lines end with "\r\n"; U+0002 is a hyphen
   * at the end of a line. `boxOf` says where a part of the text stands; it works only while `read` runs.
   */
  withText<T>(
    charactersMax: number,
    read: (text: string, boxOf: (from: number, to: number) => Box | undefined) => T,
  ): T {
    const { wasmExports: calls } = this.#module;
    const text = calls.FPDFText_LoadPage(this.#handle);
    if (text === 0) return read('', () => undefined);
    try {
      const count = Math.min(calls.FPDFText_CountChars(text), charactersMax);
      if (count <= 0) return read('', () => undefined);
      const whole = withMemory(this.#module, (count + 1) * 2, (buffer) => {
        const units = calls.FPDFText_GetText(text, 0, count, buffer);
        return readUtf16(this.#module, buffer, Math.max(0, units - 1) * 2);
      });
      return read(whole, (from, to) => this.#boxOf(text, from, to));
    } finally {
      calls.FPDFText_ClosePage(text);
    }
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
