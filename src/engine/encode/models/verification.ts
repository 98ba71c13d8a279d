import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestFile } from './manifest.ts';

interface Seen {
  readonly bytes: number;
  readonly modified: number;
  readonly sha256: string;
}

/**
 * Checks model files against the manifest. A file is hashed once; while its size and modification time stay the same, the
 * hash comes from `verified.json` in the cache folder, so that starts need not wait.
 */
export class Verification {
  readonly #folder: string;
  readonly #cacheFolder: string;
  readonly #seen: Map<string, Seen>;
  #changed = false;

  private constructor(folder: string, cacheFolder: string, seen: Map<string, Seen>) {
    this.#folder = folder;
    this.#cacheFolder = cacheFolder;
    this.#seen = seen;
  }

  static async open(folder: string, cacheFolder: string): Promise<Verification> {
    const text = await readFile(join(cacheFolder, 'verified.json'), 'utf8').catch(() => '{}');
    return new Verification(folder, cacheFolder, parseSeen(text));
  }

  /** Hashes every file again, whatever is known of it. */
  static anew(folder: string, cacheFolder: string): Verification {
    return new Verification(folder, cacheFolder, new Map());
  }

  /** Why a file may not be used; undefined when it matches the manifest. */
  async refusal(file: ManifestFile): Promise<string | undefined> {
    const path = join(this.#folder, file.path);
    if (file.sha256 === undefined) return `${file.path} is not installed`;
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return `${file.path} is not installed`;
    if (found.size !== file.bytes)
      return `${file.path} has ${found.size} bytes, the manifest says ${file.bytes}`;
    const known = this.#seen.get(path);
    const sha256 =
      known?.bytes === found.size && known.modified === found.mtimeMs ? known.sha256 : await hashFile(path);
    if (sha256 !== known?.sha256 || known.modified !== found.mtimeMs) {
      this.#seen.set(path, { bytes: found.size, modified: found.mtimeMs, sha256 });
      this.#changed = true;
    }
    if (sha256 !== file.sha256)
      return `${file.path} has the SHA-256 ${sha256}, the manifest says ${file.sha256}`;
    return undefined;
  }

  /** Saves the hashes for the next start. */
  async save(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    await mkdir(this.#cacheFolder, { recursive: true });
    const path = join(this.#cacheFolder, 'verified.json');
    const written = `${path}.${randomUUID()}.new`;
    await writeFile(written, JSON.stringify(Object.fromEntries(this.#seen), null, 1));
    await rename(written, path);
  }
}

/** A damaged cache counts as empty: files are hashed again. */
function parseSeen(text: string): Map<string, Seen> {
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, Seen>);
    return new Map(
      entries.filter(([, seen]) => typeof seen?.sha256 === 'string' && typeof seen.modified === 'number'),
    );
  } catch {
    return new Map();
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }))
    hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
