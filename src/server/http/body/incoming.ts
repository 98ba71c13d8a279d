import { statfs } from 'node:fs/promises';
import { FarthingError } from '@farthing/protocol/error';
import type { Shares } from './shared-bytes.ts';

export interface IncomingOptions {
  /** Folder of uploads until they are accepted. */
  readonly folder: string;
  /** Budget of their bytes. */
  readonly shares: Shares;
  /** Bytes of the disk that uploads leave free, for the state: payments must be recorded even when no file can be taken any more. */
  readonly freeBytesMin: number;
}

/** How long what was read of the disk is taken to hold. */
const READ_AGAIN_MS = 1000;

/** The disk that uploads are received on. */
export class Incoming {
  readonly folder: string;
  readonly shares: Shares;
  readonly #freeBytesMin: number;
  #free: Promise<number> | undefined;
  #readAt = 0;

  constructor({ folder, shares, freeBytesMin }: IncomingOptions) {
    this.folder = folder;
    this.shares = shares;
    this.#freeBytesMin = freeBytesMin;
  }

  /** @throws storage_full when no more may be written. */
  async checkSpace(): Promise<void> {
    if (this.#freeBytesMin === 0) return;
    const now = performance.now();
    if (!this.#free || now - this.#readAt > READ_AGAIN_MS) {
      this.#readAt = now;
      this.#free = freeBytes(this.folder);
    }
    if ((await this.#free) < this.#freeBytesMin)
      throw new FarthingError('storage_full', 'The disk of the server is full. Nothing was stored.');
  }
}

/** For processes that do not run as root. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
