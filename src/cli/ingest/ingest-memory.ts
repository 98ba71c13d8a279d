import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { IngestLog, IngestOutcome } from '@farthing/client';
import { makeFolder, stateFile } from '../access/folders.ts';
import type { Io } from '../terminal/io.ts';

const FILE_MODE = 0o600;

/** Remembers which files a target has: one line each, appended when the file is searchable. A kill loses only the running ones. */
export class IngestMemory implements IngestLog {
  readonly #done: Set<string>;
  readonly #file: FileHandle;

  /** @param target name of where the files go: server, and workspace or wallet */
  static async open(io: Io, target: string, { empty }: { empty: boolean }): Promise<IngestMemory> {
    const path = stateFile(io, `ingest-${digest(target).slice(0, 32)}.log`);
    await makeFolder(path);
    const text = empty ? '' : await readFile(path, 'utf8').catch(() => '');
    const file = await open(path, empty ? 'w' : 'a', FILE_MODE);
    // A kill may have cut the last line off.
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

  /** A refused file is not remembered: another attempt is free, and a newer server may read it. */
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
