import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { FarthingError } from '@farthing/protocol/error';

/** Kept for the writes to come, and how little of it is left before more is taken; with the least, nothing is written. */
const RESERVE_BYTES = 4 * 2 ** 20;
const LOW_BYTES = RESERVE_BYTES / 2;
const LEAST_BYTES = RESERVE_BYTES / 4;
/** Writes between two looks: they take much less than the least. */
const WRITES_PER_LOOK = 16;
/** While the disk is full it is looked at no oftener. */
const LOOK_EVERY_MS = 200;
const RETRY_AFTER_S = 5;

interface Environment {
  /** Bytes of the file that are in use. */
  usedBytes(): number;
  /** Runs `work` while there are no writers. */
  alone(work: () => void): void;
}

/**
 * Room on the disk for a state's next pages, behind those in its file. Without it a full disk would fail in the middle of a commit, which
 * the library of LMDB does not survive: it breaks its own memory. So a write is refused before it begins.
 */
export class Reserve {
  readonly #environment: Environment;
  readonly #file: number;
  #fileBytes: number;
  #writes = 0;
  #isOut = false;
  #lookAt = 0;

  /** @param file path of the environment's data; it must have no writers yet */
  constructor(file: string, environment: Environment) {
    this.#environment = environment;
    this.#file = openSync(file, 'r+');
    this.#fileBytes = fstatSync(this.#file).size;
    this.#grow();
    this.#isOut = this.#leftBytes() < LEAST_BYTES;
  }

  /** To be called before each write. @throws books_unavailable where the disk has no room for it */
  assertRoom(): void {
    this.#writes += 1;
    const now = performance.now();
    if (this.#isOut ? now >= this.#lookAt : this.#writes % WRITES_PER_LOOK === 0) {
      this.#lookAt = now + LOOK_EVERY_MS;
      if (this.#leftBytes() < LOW_BYTES) this.#environment.alone(() => this.#grow());
      this.#isOut = this.#leftBytes() < LEAST_BYTES;
    }
    if (this.#isOut)
      throw new FarthingError('books_unavailable', 'The disk of the server is full. Try again later.', {
        retryAfterS: RETRY_AFTER_S,
      });
  }

  close(): void {
    closeSync(this.#file);
  }

  #leftBytes(): number {
    return this.#fileBytes - this.#environment.usedBytes();
  }

  #grow(): void {
    this.#fileBytes = fstatSync(this.#file).size;
    const bytes = RESERVE_BYTES - this.#leftBytes();
    if (bytes <= 0) return;
    try {
      this.#fileBytes += writeSync(this.#file, new Uint8Array(bytes), 0, bytes, this.#fileBytes);
    } catch (error) {
      if (!/^(ENOSPC|EDQUOT)$/.test(String((error as { code?: unknown }).code))) throw error;
    }
  }
}
