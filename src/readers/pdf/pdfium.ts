import { PDFiumModule } from '@hyzyla/pdfium';
import type { Sink } from '../reading/sink.ts';
import { PdfPage } from './pdf-page.ts';
import { bytesOf, type Module, stringOf, withKey, withMemory } from './pdfium-module.ts';

/** A form has about ten (XFA 3.3, chapter 2). */
const XFA_PACKETS_MAX = 100;
const XFA_BYTES_MAX = 16 * 2 ** 20;
/** More than FPDF_FORMFILLINFO has. All its callbacks are absent. */
const FORM_INFO_BYTES = 512;
const FORM_INFO_VERSION = 2;
const BOOKMARKS_DEEP_MAX = 20;
const PASSWORD_ERRORS = [4, 5]; // FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY

/** Why a document could not be opened. */
export class PdfOpenError extends Error {
  readonly reason: 'encrypted' | 'damaged';

  constructor(reason: 'encrypted' | 'damaged') {
    super(`the PDF is ${reason}`);
    this.reason = reason;
  }
}

/** PDFium as WebAssembly. A fault in it becomes a JavaScript error and reaches no memory but its own. */
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

  /** PDFium's memory. It grows and never shrinks. */
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

export interface Bookmark {
  readonly title: string;
  /** From 0; -1 where it leads elsewhere. */
  readonly page: number;
}

export class PdfDocument {
  readonly #module: Module;
  readonly #handle: number;
  readonly #bytes: number;
  #form: number | undefined;
  #formInfo = 0;

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
    return withKey(this.#module, entry, (tag) =>
      stringOf(this.#module, (buffer, bytes) => calls.FPDF_GetMetaText(this.#handle, tag, buffer, bytes)),
    );
  }

  /** Its bookmarks, in order. */
  bookmarks(most: number): Bookmark[] {
    const { wasmExports: calls } = this.#module;
    const found: Bookmark[] = [];
    const seen = new Set<number>();
    const walk = (first: number, deep: number): void => {
      // A damaged file may lead in a circle.
      for (let at = first; at !== 0 && !seen.has(at) && found.length < most; ) {
        seen.add(at);
        const title = stringOf(this.#module, (buffer, bytes) =>
          calls.FPDFBookmark_GetTitle(at, buffer, bytes),
        );
        const target = calls.FPDFBookmark_GetDest(this.#handle, at);
        const page = target === 0 ? -1 : calls.FPDFDest_GetDestPageIndex(this.#handle, target);
        found.push({ title: title.trim(), page });
        if (deep < BOOKMARKS_DEEP_MAX) walk(calls.FPDFBookmark_GetFirstChild(this.#handle, at), deep + 1);
        at = calls.FPDFBookmark_GetNextSibling(this.#handle, at);
      }
    };
    walk(calls.FPDFBookmark_GetFirstChild(this.#handle, 0), 0);
    return found.filter(({ title }) => title !== '');
  }

  /** Files inside the document, beside those that are pinned to pages. */
  get attachmentCount(): number {
    return Math.max(0, this.#module.wasmExports.FPDFDoc_GetAttachmentCount(this.#handle));
  }

  /** Handles of the first of them. */
  attachments(most: number): readonly number[] {
    const length = Math.min(most, this.attachmentCount);
    return Array.from({ length }, (_, index) =>
      this.#module.wasmExports.FPDFDoc_GetAttachment(this.#handle, index),
    );
  }

  /** Files by their handles; those of a page, while it is open. One of more than `bytesMax` bytes, or a damaged one, has none. */
  files(handles: readonly number[], bytesMax: number): { name: string; bytes: Uint8Array | undefined }[] {
    const { wasmExports: calls } = this.#module;
    return handles
      .filter((handle) => handle !== 0)
      .map((handle) => ({
        name: stringOf(this.#module, (buffer, bytes) => calls.FPDFAttachment_GetName(handle, buffer, bytes)),
        bytes: bytesOf(this.#module, bytesMax, (buffer, bytes, length) =>
          calls.FPDFAttachment_GetFile(handle, buffer, bytes, length),
        ),
      }));
  }

  /** The values of an XFA form, as XML; undefined for a document without one. @param report gets values of too many bytes */
  xfaData(report: Sink['notRead']): string | undefined {
    const { wasmExports: calls } = this.#module;
    const count = Math.min(XFA_PACKETS_MAX, calls.FPDF_GetXFAPacketCount(this.#handle));
    for (let index = 0; index < count; index++) {
      const name = withMemory(this.#module, 64, (buffer) => {
        const bytes = calls.FPDF_GetXFAPacketName(this.#handle, index, buffer, 64);
        return Buffer.from(this.#module.HEAPU8.slice(buffer, buffer + Math.min(bytes, 64) - 1)).toString(
          'latin1',
        );
      });
      if (name !== 'datasets') continue;
      const bytes = bytesOf(this.#module, XFA_BYTES_MAX, (buffer, size, length) =>
        calls.FPDF_GetXFAPacketContent(this.#handle, index, buffer, size, length),
      );
      if (!bytes) report('forms', 'limit');
      return bytes && new TextDecoder().decode(bytes);
    }
    return undefined;
  }

  /** Runs `read` on a page (from 0), which is closed afterwards. @returns undefined for a page that cannot be loaded. */
  page<T>(index: number, read: (page: PdfPage) => T): T | undefined {
    const handle = this.#module.wasmExports.FPDF_LoadPage(this.#handle, index);
    if (handle === 0) return undefined;
    try {
      return read(new PdfPage(this.#module, handle, this.#openForm()));
    } finally {
      this.#module.wasmExports.FPDF_ClosePage(handle);
    }
  }

  /** An environment in which form fields can be read. It runs nothing: this PDFium has no JavaScript. */
  #openForm(): number {
    if (this.#form !== undefined) return this.#form;
    const { malloc, FPDFDOC_InitFormFillEnvironment } = this.#module.wasmExports;
    this.#formInfo = malloc(FORM_INFO_BYTES);
    if (this.#formInfo === 0) throw new RangeError('not enough memory in the PDF reader');
    this.#module.HEAPU8.fill(0, this.#formInfo, this.#formInfo + FORM_INFO_BYTES);
    this.#module.HEAPU8[this.#formInfo] = FORM_INFO_VERSION;
    this.#form = FPDFDOC_InitFormFillEnvironment(this.#handle, this.#formInfo);
    return this.#form;
  }

  close(): void {
    if (this.#form) this.#module.wasmExports.FPDFDOC_ExitFormFillEnvironment(this.#form);
    if (this.#formInfo) this.#module.wasmExports.free(this.#formInfo);
    this.#module.wasmExports.FPDF_CloseDocument(this.#handle);
    this.#module.wasmExports.free(this.#bytes);
  }
}
