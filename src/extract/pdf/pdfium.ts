import { PDFiumModule } from '@hyzyla/pdfium';
import { PdfPage } from './pdf-page.ts';
import { type Module, readUtf16, withMemory } from './pdfium-module.ts';

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
    return withMemory(this.#module, entry.length + 1, (tag) => {
      this.#module.HEAPU8.set([...Buffer.from(entry, 'latin1'), 0], tag);
      const bytes = calls.FPDF_GetMetaText(this.#handle, tag, 0, 0);
      if (bytes <= 2 || bytes > 65_536) return '';
      return withMemory(this.#module, bytes, (buffer) => {
        calls.FPDF_GetMetaText(this.#handle, tag, buffer, bytes);
        return readUtf16(this.#module, buffer, bytes - 2);
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
}
