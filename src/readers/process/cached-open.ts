import type { FileInfo } from '@farthing/protocol/document';
import type { Done } from '../reading/sink.ts';
import type { Collector } from './collector.ts';

/** A file's contents, and what was learnt while it was read. */
export interface ReadFile extends Pick<Done, 'title' | 'textless' | 'scenes' | 'notRead'> {
  readonly collector: Pick<Collector, 'blocks' | 'pictures' | 'take'>;
}

/** For all files together: some hundred photographs, or some thousand texts. */
const BYTES_MAX = 16 * 2 ** 20;
/** Contents not requested by then are dropped. */
const KEPT_MS = 60_000;
/** Besides its text and pixels. */
const BYTES_EACH = 512;

interface Kept {
  readonly read: ReadFile;
  readonly bytes: number;
  readonly since: number;
}

/** Contents of small files, read while these were opened, until they are taken. Without room they are dropped, and the file is read again. */
export class CachedOpens {
  readonly #now: () => number;
  readonly #bytesMax: number;
  /** In the order of coming. */
  readonly #kept = new Map<FileInfo, Kept>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesMax = BYTES_MAX, now = () => performance.now() } = {}) {
    this.#bytesMax = bytesMax;
    this.#now = now;
  }

  keep(file: FileInfo, read: ReadFile): void {
    this.#dropOld();
    const bytes = bytesOf(read);
    if (this.#bytes + bytes > this.#bytesMax) return;
    this.#kept.set(file, { read, bytes, since: this.#now() });
    this.#bytes += bytes;
    this.#dropLater();
  }

  /** The contents, once. @param file the very object that they were kept under */
  take(file: FileInfo): ReadFile | undefined {
    const kept = this.#kept.get(file);
    if (!kept) return undefined;
    this.#kept.delete(file);
    this.#bytes -= kept.bytes;
    return kept.read;
  }

  #dropOld(): void {
    const until = this.#now() - KEPT_MS;
    for (const [file, { since }] of this.#kept) {
      if (since > until) break;
      this.take(file);
    }
  }

  /** Drops contents also if no other file is opened. */
  #dropLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#dropOld();
      if (this.#kept.size > 0) this.#dropLater();
    }, KEPT_MS).unref();
  }
}

function bytesOf({ collector: { blocks, pictures } }: ReadFile): number {
  const texts = blocks.reduce((sum, { text }) => sum + BYTES_EACH + 2 * text.length, 0);
  return pictures.reduce((sum, { pixels }) => sum + BYTES_EACH + pixels.rgb.byteLength, texts);
}
