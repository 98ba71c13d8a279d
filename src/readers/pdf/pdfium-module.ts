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
  FPDFText_GetUnicode(text: number, index: number): number;
  FPDFText_GetTextObject(text: number, index: number): number;
  FPDFText_GetFillColor(
    text: number,
    index: number,
    red: number,
    green: number,
    blue: number,
    alpha: number,
  ): number;
  FPDFText_GetLooseCharBox(text: number, index: number, rectangle: number): number;
  FPDFTextObj_GetTextRenderMode(object: number): number;
  FPDFPageObj_SetIsActive(object: number, isActive: number): number;
  FPDFPageObj_CountMarks(object: number): number;
  FPDFPageObj_GetMark(object: number, index: number): number;
  FPDFPageObjMark_GetName(mark: number, buffer: number, bytes: number, length: number): number;
  FPDFPageObj_GetClipPath(object: number): number;
  FPDFClipPath_CountPaths(clip: number): number;
  FPDFClipPath_CountPathSegments(clip: number, path: number): number;
  FPDFClipPath_GetPathSegment(clip: number, path: number, index: number): number;
  FPDFPathSegment_GetPoint(segment: number, x: number, y: number): number;
  FPDFPath_GetDrawMode(path: number, fillMode: number, stroke: number): number;
  FPDFPageObj_GetFillColor(object: number, red: number, green: number, blue: number, alpha: number): number;
  FPDFBookmark_GetFirstChild(document: number, bookmark: number): number;
  FPDFBookmark_GetNextSibling(document: number, bookmark: number): number;
  FPDFBookmark_GetDest(document: number, bookmark: number): number;
  FPDFDest_GetDestPageIndex(document: number, destination: number): number;
  FPDFBookmark_GetTitle(bookmark: number, buffer: number, bytes: number): number;
  FPDFPage_GetAnnotCount(page: number): number;
  FPDFPage_GetAnnot(page: number, index: number): number;
  FPDFPage_CloseAnnot(annotation: number): void;
  FPDFAnnot_GetSubtype(annotation: number): number;
  FPDFAnnot_GetStringValue(annotation: number, key: number, buffer: number, bytes: number): number;
  FPDFAnnot_GetFileAttachment(annotation: number): number;
  FPDFAnnot_GetFormFieldType(form: number, annotation: number): number;
  FPDFAnnot_GetFormFieldName(form: number, annotation: number, buffer: number, bytes: number): number;
  FPDFAnnot_GetFormFieldAlternateName(
    form: number,
    annotation: number,
    buffer: number,
    bytes: number,
  ): number;
  FPDFAnnot_GetFormFieldValue(form: number, annotation: number, buffer: number, bytes: number): number;
  FPDFAnnot_IsChecked(form: number, annotation: number): number;
  FPDFDOC_InitFormFillEnvironment(document: number, info: number): number;
  FPDFDOC_ExitFormFillEnvironment(form: number): void;
  FPDFDoc_GetAttachmentCount(document: number): number;
  FPDFDoc_GetAttachment(document: number, index: number): number;
  FPDFAttachment_GetName(attachment: number, buffer: number, bytes: number): number;
  FPDFAttachment_GetFile(attachment: number, buffer: number, bytes: number, length: number): number;
  FPDF_GetXFAPacketCount(document: number): number;
  FPDF_GetXFAPacketName(document: number, index: number, buffer: number, bytes: number): number;
  FPDF_GetXFAPacketContent(
    document: number,
    index: number,
    buffer: number,
    bytes: number,
    length: number,
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

/** Half a million characters: nobody writes as many into a field, a note or a name. */
const STRING_BYTES_MAX = 2 ** 20;

/** A string in UTF-16 of a call that tells its bytes, with a zero at the end, when it gets no memory. */
export function stringOf(module: Module, get: (buffer: number, bytes: number) => number): string {
  const bytes = get(0, 0);
  if (!(bytes > 2 && bytes <= STRING_BYTES_MAX)) return '';
  return withMemory(module, bytes, (buffer) => {
    get(buffer, bytes);
    return readUtf16(module, buffer, bytes - 2);
  });
}

/** Gives `use` a zero-terminated string in PDFium's memory. */
export function withKey<T>(module: Module, key: string, use: (pointer: number) => T): T {
  return withMemory(module, key.length + 1, (pointer) => {
    module.HEAPU8.set([...Buffer.from(key, 'latin1'), 0], pointer);
    return use(pointer);
  });
}

/** Bytes of a call that tells their number at `length`, when it gets no memory; undefined for more than `bytesMax`. */
export function bytesOf(
  module: Module,
  bytesMax: number,
  get: (buffer: number, bytes: number, length: number) => number,
): Uint8Array | undefined {
  return withMemory(module, 4, (length) => {
    const stated = (): number => new DataView(module.HEAPU8.buffer, length, 4).getUint32(0, true);
    if (!get(0, 0, length)) return undefined;
    const bytes = stated();
    if (bytes > bytesMax) return undefined;
    if (bytes === 0) return new Uint8Array();
    return withMemory(module, bytes, (buffer) =>
      get(buffer, bytes, length) ? module.HEAPU8.slice(buffer, buffer + bytes) : undefined,
    );
  });
}
