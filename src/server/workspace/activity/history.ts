import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HistoryAnswer, HistoryEntry } from '@farthing/protocol/schema/workspaces';

/** Above this size a new file begins; above this number the oldest file goes. 16 MiB of history at most. */
const FILE_BYTES_MAX = 2 ** 20;
const FILES_MAX = 16;
const NAME = /^(\d{8})\.jsonl$/;

/** Where a line begins: number of its file, and byte offset in that. */
interface Position {
  readonly file: number;
  readonly offset: number;
}

/**
 * A workspace's search history: numbered files of JSON lines in the workspace's folder, unlinked with it. Nothing is kept
 * between calls. Lines torn by a crash are skipped.
 */
export class History {
  readonly #folder: string;

  /** `folder` need not exist. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async append(entries: readonly HistoryEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const files = await this.#files();
    let file = files.at(-1) ?? 1;
    const size = files.length === 0 ? 0 : (await stat(this.#path(file))).size;
    if (size >= FILE_BYTES_MAX) file += 1;
    // The leading newline ends a line that a crash tore. Empty lines are skipped.
    const lines = `\n${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
    await appendFile(this.#path(file), lines, { mode: 0o600 });
    const outdated = files.filter((number) => number <= file - FILES_MAX);
    await Promise.all(outdated.map((number) => rm(this.#path(number), { force: true })));
  }

  /** Up to `limit` entries before the cursor (absent: the newest). An unreadable cursor gives an empty last page. */
  async page({ before, limit }: { before?: string; limit: number }): Promise<HistoryAnswer> {
    const from = before === undefined ? { file: Number.MAX_SAFE_INTEGER, offset: 0 } : parseCursor(before);
    if (!from) return { entries: [], next: null };
    const found: { entry: HistoryEntry; position: Position }[] = [];
    for (const file of (await this.#files()).filter((number) => number <= from.file).reverse()) {
      const end = file === from.file ? from.offset : Number.MAX_SAFE_INTEGER;
      found.push(...newestFirst(await this.#read(file), file, end, limit + 1 - found.length));
      if (found.length > limit) break;
    }
    const shown = found.slice(0, limit);
    const next = found.length > limit ? formatCursor(shown.at(-1)!.position) : null;
    return { entries: shown.map(({ entry }) => entry), next };
  }

  async #files(): Promise<number[]> {
    const names = await readdir(this.#folder).catch(orNothing);
    return names
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  async #read(file: number): Promise<Buffer> {
    return readFile(this.#path(file)).catch((error: unknown) => Buffer.from(orNothing(error)));
  }

  #path(file: number): string {
    return join(this.#folder, `${String(file).padStart(8, '0')}.jsonl`);
  }
}

const LINE_END = 10;

/** The last `limit` entries that begin before byte `end`, the last first. */
function newestFirst(
  bytes: Buffer,
  file: number,
  end: number,
  limit: number,
): { entry: HistoryEntry; position: Position }[] {
  const found: { entry: HistoryEntry; position: Position }[] = [];
  let stop = Math.min(end, bytes.length);
  while (stop > 0 && found.length < limit) {
    const offset = stop === 1 ? 0 : bytes.lastIndexOf(LINE_END, stop - 2) + 1;
    const entry = parseLine(bytes.subarray(offset, stop));
    if (entry) found.push({ entry, position: { file, offset } });
    stop = offset;
  }
  return found;
}

function parseLine(line: Buffer): HistoryEntry | undefined {
  if (line.length < 2) return undefined;
  try {
    return JSON.parse(line.toString('utf8')) as HistoryEntry;
  } catch {
    return undefined;
  }
}

function formatCursor({ file, offset }: Position): string {
  return `${file}.${offset}`;
}

function parseCursor(text: string): Position | undefined {
  const match = /^(\d{1,8})\.(\d{1,10})$/.exec(text);
  return match ? { file: Number(match[1]), offset: Number(match[2]) } : undefined;
}

function orNothing(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
