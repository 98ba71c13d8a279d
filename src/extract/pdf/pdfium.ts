import { PDFiumModule } from '@hyzyla/pdfium';
import type { Box } from '../../domain/segment.ts';

/** The calls of PDFium (public/fpdfview.h, fpdf_text.h, fpdf_doc.h, fpdf_edit.h) that are used; all handles are integers, 0 is none. */
interface Calls {
  malloc(bytes: number): number;
  free(pointer: number): void;
  FPDF_InitLibrary(): void;
  FPDF_LoadMemDocument(pointer: number, bytes: number, password: number): number;
  FPDF_GetLastError(): number;
  FPDF_CloseDocument(document: number): void;
  FPDF_GetPageCount(document: number): number;
  FPDF_GetMetaText(document: number, tag: number, buffer: number, bytes: number): number;
  FPDF_LoadPage(document: number, index: number): number;
  FPDF_ClosePage(page: number): void;
  FPDF_GetPageWidthF(page: number): number;
  FPDF_GetPageHeightF(page: number): number;
  FPDF_GetPageBoundingBox(page: number, rectangle: number): number;
  FPDFText_LoadPage(page: number): number;
  FPDFText_ClosePage(text: number): void;
  FPDFText_CountChars(text: number): number;
  FPDFText_GetText(text: number, start: number, count: number, buffer: number): number;
  FPDFText_GetCharIndexFromTextIndex(text: number, index: number): number;
  FPDFText_GetCharBox(
    text: number,
    index: number,
    left: number,
    right: number,
    bottom: number,
    top: number,
  ): number;
  FPDF_PageToDevice(
    page: number,
    startX: number,
    startY: number,
    width: number,
    height: number,
    rotate: number,
    pageX: number,
    pageY: number,
    deviceX: number,
    deviceY: number,
  ): number;
  FPDFPage_CountObjects(page: number): number;
  FPDFPage_GetObject(page: number, index: number): number;
  FPDFPageObj_GetType(object: number): number;
  FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number;
  FPDFBitmap_CreateEx(width: number, height: number, format: number, buffer: number, stride: number): number;
  FPDFBitmap_FillRect(
    bitmap: number,
    left: number,
    top: number,
    width: number,
    height: number,
    colour: number,
  ): void;
  FPDFBitmap_Destroy(bitmap: number): void;
  FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    x: number,
    y: number,
    width: number,
    height: number,
    rotate: number,
    flags: number,
  ): void;
}

interface Module {
  readonly wasmExports: Calls;
  /** Replaced whenever the memory grows: never kept. */
  readonly HEAPU8: Uint8Array;
}

const PASSWORD_ERRORS = [4, 5]; // FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
const IMAGE_OBJECT = 3; // FPDF_PAGEOBJ_IMAGE
const FORM_OBJECT = 5; // FPDF_PAGEOBJ_FORM: a drawing of its own, which may hold pictures
const BGRX = 3; // FPDFBitmap_BGRx
const WHITE = 0xffffffff;
const RENDER_FLAGS = 0x01 | 0x10 | 0x200; // FPDF_ANNOT | FPDF_REVERSE_BYTE_ORDER | FPDF_RENDER_LIMITEDIMAGECACHE
const OBJECTS_LOOKED_AT = 2_000;
/** Boxes have four decimals. */
const BOX_UNITS = 10_000;
/** Characters of a line whose boxes are looked at: its ends, and enough between to see how high it is. */
const CHARACTERS_LOOKED_AT = 12;

/** Why a document could not be opened. */
export class PdfOpenError extends Error {
  readonly reason: 'encrypted' | 'damaged';

  constructor(reason: 'encrypted' | 'damaged') {
    super(`the PDF is ${reason}`);
    this.reason = reason;
  }
}

/** PDFium as WebAssembly: a fault in it stays in its memory, and becomes a JavaScript error. */
export class Pdfium {
  readonly #module: Module;

  private constructor(module: Module) {
    this.#module = module;
  }

  static async load(): Promise<Pdfium> {
    const module = (await PDFiumModule({})) as unknown as Module;
    module.wasmExports.FPDF_InitLibrary();
    return new Pdfium(module);
  }

  /** Memory that it has taken; it grows and never shrinks. */
  get memoryBytes(): number {
    return this.#module.HEAPU8.length;
  }

  /** @throws PdfOpenError. The document must be closed. */
  open(bytes: Uint8Array): PdfDocument {
    const { wasmExports: calls } = this.#module;
    const pointer = calls.malloc(bytes.length);
    if (pointer === 0) throw new RangeError('not enough memory for the PDF');
    this.#module.HEAPU8.set(bytes, pointer);
    const handle = calls.FPDF_LoadMemDocument(pointer, bytes.length, 0);
    if (handle === 0) {
      const reason = PASSWORD_ERRORS.includes(calls.FPDF_GetLastError()) ? 'encrypted' : 'damaged';
      calls.free(pointer);
      throw new PdfOpenError(reason);
    }
    return new PdfDocument(this.#module, handle, pointer);
  }
}

export class PdfDocument {
  readonly #module: Module;
  readonly #handle: number;
  readonly #bytes: number;

  constructor(module: Module, handle: number, bytes: number) {
    this.#module = module;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  get pageCount(): number {
    return this.#module.wasmExports.FPDF_GetPageCount(this.#handle);
  }

  /** An entry of the document's information dictionary (`Title`, `Author`, …); empty when there is none. */
  information(entry: string): string {
    const { wasmExports: calls } = this.#module;
    return this.#withMemory(entry.length + 1, (tag) => {
      this.#module.HEAPU8.set([...Buffer.from(entry, 'latin1'), 0], tag);
      const bytes = calls.FPDF_GetMetaText(this.#handle, tag, 0, 0);
      if (bytes <= 2 || bytes > 65_536) return '';
      return this.#withMemory(bytes, (buffer) => {
        calls.FPDF_GetMetaText(this.#handle, tag, buffer, bytes);
        return this.#utf16(buffer, bytes - 2);
      });
    });
  }

  /** Runs `read` on a page (from 0), which is closed afterwards. @returns undefined for a page that cannot be loaded. */
  page<T>(index: number, read: (page: PdfPage) => T): T | undefined {
    const handle = this.#module.wasmExports.FPDF_LoadPage(this.#handle, index);
    if (handle === 0) return undefined;
    try {
      return read(new PdfPage(this.#module, handle));
    } finally {
      this.#module.wasmExports.FPDF_ClosePage(handle);
    }
  }

  close(): void {
    this.#module.wasmExports.FPDF_CloseDocument(this.#handle);
    this.#module.wasmExports.free(this.#bytes);
  }

  #withMemory<T>(bytes: number, use: (pointer: number) => T): T {
    return withMemory(this.#module, bytes, use);
  }

  #utf16(pointer: number, bytes: number): string {
    return readUtf16(this.#module, pointer, bytes);
  }
}

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
   * Gives `read` the page's text, at most `charactersMax` of it, as PDFium orders it: lines end with "\r\n", U+0002 marks a
   * hyphen at a line's end. `boxOf` tells where a part of it stands, as long as `read` runs.
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
    const looks = Math.min(CHARACTERS_LOOKED_AT, to - from);
    let [left, top, right, bottom] = [BOX_UNITS, BOX_UNITS, 0, 0];
    return withMemory(this.#module, 40, (memory) => {
      for (let look = 0; look < looks; look++) {
        // The first and the last one are always among them: they hold the edges.
        const at = from + Math.round((look * (to - 1 - from)) / Math.max(1, looks - 1));
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

  /** A point of the page in units from its upper left corner, as it is shown: cropped and turned. */
  #onPage(memory: number, x: number, y: number): [number, number] {
    const { wasmExports: calls } = this.#module;
    calls.FPDF_PageToDevice(this.#handle, 0, 0, BOX_UNITS, BOX_UNITS, 0, x, y, memory, memory + 4);
    const view = new DataView(this.#module.HEAPU8.buffer, memory, 8);
    return [view.getInt32(0, true), view.getInt32(4, true)];
  }

  /** Share of the page's area that pictures cover, about: 0..1. */
  pictureShare(): number {
    const { wasmExports: calls } = this.#module;
    return withMemory(this.#module, 16, (corners) => {
      if (!calls.FPDF_GetPageBoundingBox(this.#handle, corners)) return 0;
      // FS_RECTF: left, top, right, bottom. The crop box, which may lie anywhere, before the page is turned.
      const [x0, y1, x1, y0] = this.#floats(corners);
      if (!(x1 > x0 && y1 > y0)) return 0;
      let area = 0;
      const count = Math.min(calls.FPDFPage_CountObjects(this.#handle), OBJECTS_LOOKED_AT);
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

function withMemory<T>(module: Module, bytes: number, use: (pointer: number) => T): T {
  const pointer = module.wasmExports.malloc(bytes);
  if (pointer === 0) throw new RangeError('not enough memory in the PDF reader');
  try {
    return use(pointer);
  } finally {
    module.wasmExports.free(pointer);
  }
}

function readUtf16(module: Module, pointer: number, bytes: number): string {
  return new TextDecoder('utf-16le').decode(module.HEAPU8.subarray(pointer, pointer + bytes));
}
