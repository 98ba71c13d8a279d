/** The calls of PDFium that are used (public/fpdfview.h, fpdf_text.h, fpdf_doc.h, fpdf_edit.h). Handles are integers; 0 is none. */
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

export interface Module {
  readonly wasmExports: Calls;
  /** A new array whenever the memory grows: never keep it. */
  readonly HEAPU8: Uint8Array;
}

/** Gives `use` memory of PDFium, which is freed afterwards. */
export function withMemory<T>(module: Module, bytes: number, use: (pointer: number) => T): T {
  const pointer = module.wasmExports.malloc(bytes);
  if (pointer === 0) throw new RangeError('not enough memory in the PDF reader');
  try {
    return use(pointer);
  } finally {
    module.wasmExports.free(pointer);
  }
}

export function readUtf16(module: Module, pointer: number, bytes: number): string {
  return new TextDecoder('utf-16le').decode(module.HEAPU8.subarray(pointer, pointer + bytes));
}
