import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { IngestLog, IngestOutcome } from '../client/index.ts';
import { makeFolder, stateFile } from './folders.ts';
import type { Io } from './io.ts';

const FILE_MODE = 0o600;

/** Which files one target has already: one line for each, appended when it is searchable, so that a kill loses at most the running ones. */
export class IngestMemory implements IngestLog {
  readonly #done: Set<string>;
  readonly #file: FileHandle;

  /** @param target who or what the files go to */
  static async open(io: Io, target: string, { empty }: { empty: boolean }): Promise<IngestMemory> {
    const path = stateFile(io, `ingest-${digest(target).slice(0, 32)}.log`);
    await makeFolder(path);
    const text = empty ? '' : await readFile(path, 'utf8').catch(() => '');
    const file = await open(path, empty ? 'w' : 'a', FILE_MODE);
    // A kill may have cut the last line off: the next one begins its own.
    if (text !== '' && !text.endsWith('\n')) await file.appendFile('\n');
    return new IngestMemory(new Set(text.split('\n')), file);
  }

  private constructor(done: Set<string>, file: FileHandle) {
    this.#done = done;
    this.#file = file;
  }

  has(key: string): boolean {
    return this.#done.has(digest(key));
  }

  /** A refused file is asked about again next time: that costs nothing, and the server may know its type by then. */
  async add(key: string, outcome: IngestOutcome): Promise<void> {
    if ('answer' in outcome) await this.#file.appendFile(`${digest(key)}\n`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
