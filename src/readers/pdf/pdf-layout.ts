import type { Box } from '@farthing/protocol/file/segment';
import { type Colour, isFaint, WHITE } from '../reading/visibility.ts';
import type { RenderedPage } from './pdf-page.ts';
import { type Module, withMemory } from './pdfium-module.ts';

// FPDF_PAGEOBJ_…
const TEXT = 1;
const PATH = 2;
const FORM = 5;
/** Objects that are looked at. No page of prose has more. */
const OBJECTS_MAX = 20_000;
/** What is filled on a page, and comparisons of it with text: with more the page is shown, to see. */
const FILLED_MAX = 2_000;
const COMPARISONS_MAX = 500_000;
/**
 * Of 255: a smaller difference of a colour is none. White and #ddd differ by 34. Thin letters in another colour than their ground
 * differ by less from it, and are seen.
 */
const DIFFERENCE_MIN = { faint: 24, other: 4 } as const;

/** What may hide a text: its colour, or anything else. */
export type Doubt = keyof typeof DIFFERENCE_MIN;

interface Bounds {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

interface Filled extends Bounds {
  /** Its place in the order of drawing. */
  readonly at: number;
  /** Undefined for a picture. */
  readonly colour: Colour | undefined;
}

/** What a page draws beside its text: tells which text may not be seen. Whether it is seen shows when the page is shown. */
export class PageLayout {
  readonly #module: Module;
  readonly #places = new Map<number, number>();
  readonly #filled: Filled[] = [];
  #isCrowded = false;
  #comparisons = 0;

  constructor(module: Module, page: number) {
    this.#module = module;
    const { wasmExports: calls } = module;
    const count = calls.FPDFPage_CountObjects(page);
    this.#isCrowded = count > OBJECTS_MAX;
    for (let at = 0; at < Math.min(count, OBJECTS_MAX); at++) {
      const object = calls.FPDFPage_GetObject(page, at);
      const type = calls.FPDFPageObj_GetType(object);
      if (type === TEXT) this.#places.set(object, at);
      else if (type !== FORM) this.#addFilled(object, type, at);
    }
  }

  /** Cheap, and there is rather a doubt too many. @param ink undefined: a pattern */
  doubt(text: number, ink: Colour | undefined): Doubt | undefined {
    const { wasmExports: calls } = this.#module;
    if (ink && isFaint(ink, WHITE)) return 'faint';
    if (this.#isCrowded || !ink) return 'other';
    if (calls.FPDFPageObj_CountMarks(text) > 0 && this.#isOnLayer(text)) return 'other';
    const own = boundsOf(this.#module, text);
    if (!own) return undefined;
    if (this.#isCutOff(text, own)) return 'other';
    let doubt: Doubt | undefined;
    // In a form: its place is not known.
    const place = this.#places.get(text);
    for (const { at, colour, ...bounds } of this.#filled) {
      if (++this.#comparisons > COMPARISONS_MAX) return doubt ?? 'other';
      if (!reachesOver(bounds, own)) continue;
      if (colour !== undefined && isFaint(ink, colour)) return 'faint';
      if (place === undefined || at > place) doubt = 'other';
    }
    return doubt;
  }

  #addFilled(object: number, type: number, at: number): void {
    if (this.#filled.length >= FILLED_MAX) {
      this.#isCrowded = true;
      return;
    }
    const bounds = boundsOf(this.#module, object);
    const colour = type === PATH ? this.#fillOf(object) : undefined;
    // A line, or what is only outlined, covers nothing.
    if (bounds && colour !== null && bounds.top - bounds.bottom > 2 && bounds.right - bounds.left > 2)
      this.#filled.push({ ...bounds, at, colour });
  }

  /** Null for a path without a filling. */
  #fillOf(path: number): Colour | null {
    return withMemory(this.#module, 16, (memory) => {
      const { wasmExports: calls } = this.#module;
      if (!calls.FPDFPath_GetDrawMode(path, memory, memory + 4)) return null;
      if (new DataView(this.#module.HEAPU8.buffer, memory, 4).getInt32(0, true) === 0) return null;
      if (!calls.FPDFPageObj_GetFillColor(path, memory, memory + 4, memory + 8, memory + 12)) return null;
      return colourAt(this.#module, memory);
    });
  }

  /** Optional content (ISO 32000-1, 8.11.3) and other marks with properties. */
  #isOnLayer(text: number): boolean {
    const { wasmExports: calls } = this.#module;
    return withMemory(this.#module, 16, (memory) => {
      for (let at = 0; at < Math.min(10, calls.FPDFPageObj_CountMarks(text)); at++) {
        const mark = calls.FPDFPageObj_GetMark(text, at);
        if (!calls.FPDFPageObjMark_GetName(mark, memory + 4, 12, memory)) continue;
        if (this.#module.HEAPU8[memory + 4] === 79 && this.#module.HEAPU8[memory + 6] === 67) return true; // OC
      }
      return false;
    });
  }

  /** Whether a path cuts off a part of it. */
  #isCutOff(text: number, own: Bounds): boolean {
    const { wasmExports: calls } = this.#module;
    const clip = calls.FPDFPageObj_GetClipPath(text);
    const paths = clip === 0 ? 0 : calls.FPDFClipPath_CountPaths(clip);
    const x = (own.left + own.right) / 2;
    const y = (own.bottom + own.top) / 2;
    for (let path = 0; path < Math.min(paths, 10); path++) {
      const points = withMemory(this.#module, 8, (memory) => {
        const view = (): DataView => new DataView(this.#module.HEAPU8.buffer, memory, 8);
        const count = Math.min(1_000, calls.FPDFClipPath_CountPathSegments(clip, path));
        return Array.from({ length: Math.max(0, count) }, (_, at) => {
          const segment = calls.FPDFClipPath_GetPathSegment(clip, path, at);
          calls.FPDFPathSegment_GetPoint(segment, memory, memory + 4);
          return [view().getFloat32(0, true), view().getFloat32(4, true)] as const;
        });
      });
      const [xs, ys] = [points.map(([left]) => left), points.map(([, low]) => low)];
      const isInside =
        x >= Math.min(...xs) && x <= Math.max(...xs) && y >= Math.min(...ys) && y <= Math.max(...ys);
      if (points.length > 0 && !isInside) return true;
    }
    return false;
  }
}

/** A colour that a call of PDFium wrote: four numbers of four bytes. */
export function colourAt(module: Module, memory: number): Colour {
  const view = new DataView(module.HEAPU8.buffer, memory, 16);
  const [red, green, blue, alpha] = [0, 4, 8, 12].map((offset) => view.getUint32(offset, true));
  return { red: red!, green: green!, blue: blue!, alpha: alpha! / 255 };
}

/** Whether a part of two pictures of a page looks the same. @param box undefined: it has no place, and is not judged */
export function isSame(one: RenderedPage, other: RenderedPage, box: Box | undefined, doubt: Doubt): boolean {
  if (!box) return false;
  const { width, height } = one;
  // A pixel more: the box of a thin letter may fall beside it.
  const from = (place: number, side: number): number => Math.max(0, Math.floor(place * side) - 1);
  const to = (place: number, side: number): number => Math.min(side, Math.ceil(place * side) + 1);
  const [x0, x1] = [from(box.x, width), to(box.x + box.width, width)];
  const [y0, y1] = [from(box.y, height), to(box.y + box.height, height)];
  for (let y = y0; y < y1; y++)
    for (let at = (y * width + x0) * 4; at < (y * width + x1) * 4; at++)
      if (at % 4 !== 3 && Math.abs(one.data[at]! - other.data[at]!) >= DIFFERENCE_MIN[doubt]) return false;
  return true;
}

function boundsOf(module: Module, object: number): Bounds | undefined {
  return withMemory(module, 16, (memory) => {
    const { FPDFPageObj_GetBounds } = module.wasmExports;
    if (!FPDFPageObj_GetBounds(object, memory, memory + 4, memory + 8, memory + 12)) return undefined;
    const view = new DataView(module.HEAPU8.buffer, memory, 16);
    const [left, bottom, right, top] = [0, 4, 8, 12].map((offset) => view.getFloat32(offset, true));
    return { left: left!, bottom: bottom!, right: right!, top: top! };
  });
}

/** Whether it lies over the middle of another. */
function reachesOver(cover: Bounds, own: Bounds): boolean {
  const [x, y] = [(own.left + own.right) / 2, (own.bottom + own.top) / 2];
  return x >= cover.left && x <= cover.right && y >= cover.bottom && y <= cover.top;
}
