import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Extracted, FileInfo, UnpackedMember } from '../../../src/protocol/document.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import type { EncoderInput, InputKind } from '../../../src/protocol/family.ts';
import type { Item } from '../../../src/protocol/schema/items.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestPassage,
  IngestSegment,
  IngestShard,
  IngestTenants,
  StagedUpload,
} from '../../../src/server/ingest/ports/ports.ts';

/** A Tenant's index in memory, with a real folder. It survives a crash of the Ingest over it. */
export class FakeShard implements IngestShard {
  readonly stored = new Map<string, { item: Item; segments: readonly IngestSegment[] }>();
  /** Thrown by appends. */
  failure: unknown;

  async append(item: Item, segments: readonly IngestSegment[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.stored.set(item.id, { item, segments });
  }

  async putItem(item: Item): Promise<void> {
    this.stored.set(item.id, { item, segments: [] });
    await new Promise(setImmediate);
  }

  async addAlias(id: string, name: string): Promise<boolean> {
    const stored = this.stored.get(id);
    if (!stored || stored.item.state === 'failed') return false;
    const { item, segments } = stored;
    this.stored.set(id, { item: { ...item, aliases: [...(item.aliases ?? []), name] }, segments });
    return true;
  }

  async removeItem(id: string): Promise<boolean> {
    return this.stored.delete(id);
  }

  item(id: string): Item | undefined {
    return this.stored.get(id)?.item;
  }

  itemsByDigest(sha256: string): Item[] {
    const items = [...this.stored.values()].map(({ item }) => item);
    return items.filter((item) => item.sha256 === sha256 && item.state !== 'failed');
  }

  itemsByKey(key: string): Item[] {
    return [...this.stored.values()].map(({ item }) => item).filter((item) => item.key === key);
  }

  snapshot(): ReturnType<IngestShard['snapshot']> {
    const items = [...this.stored.values()].filter(({ item }) => item.state === 'searchable');
    const counts = () => ({
      items: items.length,
      segments: 0,
      bytes: items.reduce((sum, { item }) => sum + item.bytes, 0),
    });
    return { counts, segmentsOf: () => undefined, records: () => [], close: () => undefined };
  }
}

export class FakeTenants implements IngestTenants {
  readonly shards = new Map<string, FakeShard>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  folder(tenant: string): string {
    return join(this.#root, tenant);
  }

  exists(tenant: string): boolean {
    return this.shards.has(tenant);
  }

  async use<T>(
    tenant: string,
    { create }: { create?: boolean },
    work: (shard: IngestShard) => Promise<T> | T,
  ): Promise<T> {
    if (create && !this.shards.has(tenant)) this.shards.set(tenant, new FakeShard());
    const shard = this.shards.get(tenant);
    if (!shard) throw new FarthingError('not_found', 'no such tenant');
    return work(shard);
  }

  async useIfThere<T>(tenant: string, work: (shard: IngestShard) => Promise<T> | T): Promise<T | undefined> {
    if (!this.exists(tenant)) return undefined;
    return this.use(tenant, {}, work);
  }

  shard(tenant: string): FakeShard {
    return this.shards.get(tenant) ?? new FakeShard();
  }

  /** A received file, as HTTP stores it. */
  async stage(tenant: string, text: string, name = 'note.txt'): Promise<StagedUpload> {
    const path = join(this.folder(tenant), 'incoming', randomUUID());
    await mkdir(join(this.folder(tenant), 'incoming'), { recursive: true });
    await writeFile(path, text);
    return {
      path,
      name,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  }

  fileExists(tenant: string, item: string): boolean {
    return existsSync(join(this.folder(tenant), 'files', item));
  }
}

export const TEXT: FileInfo = { kind: 'text', mediaType: 'text/plain' };
export const ARCHIVE: FileInfo = {
  kind: 'archive',
  mediaType: 'application/zip',
  members: 1,
  membersBytes: 5,
};

/** Takes every file for text. After `hold`, extraction waits for `go`; with a `failure` it fails. */
export class FakeExtractor implements IngestExtractor {
  readonly begun: string[] = [];
  failure: unknown;
  /** Facts of the next files; later ones are text. */
  readonly opens: FileInfo[] = [];
  #open = true;
  #waiting: (() => void)[] = [];

  async canOpen(): Promise<void> {}

  async open(): Promise<FileInfo> {
    return this.opens.shift() ?? TEXT;
  }

  hold(): void {
    this.#open = false;
  }

  go(): void {
    this.#open = true;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** Each archive holds one file of five bytes. */
  async unpack(
    _path: string,
    _opened: FileInfo,
    { target }: { target: (index: number) => string },
  ): Promise<readonly UnpackedMember[]> {
    await writeFile(target(0), 'inner');
    return [
      { index: 0, path: 'inner', bytes: 5, sha256: createHash('sha256').update('inner').digest('hex') },
    ];
  }

  async extract(
    path: string,
    opened: FileInfo,
    options: { signal?: AbortSignal; onProgress?: (fraction: number) => void } = {},
  ): Promise<Extracted> {
    this.begun.push(path);
    options.onProgress?.(0.5);
    if (!this.#open) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      });
    }
    if (this.failure !== undefined) throw this.failure;
    return {
      fileInfo: opened,
      title: 'A title',
      blocks: [{ text: 'First passage.' }, { text: 'Second passage.' }],
      pictures: [],
    };
  }
}

/** Each block is a passage, each vector the passage's length. */
export class FakeEncoder implements IngestEncoder {
  async pictureSpec() {
    return undefined;
  }

  full = false;
  overloads = 0;

  async cutPassages({ title, blocks }: Pick<Extracted, 'title' | 'blocks'>): Promise<IngestPassage[]> {
    return blocks.map(({ text }, place) => ({ text, locator: {}, place, words: `${title}\n${text}` }));
  }

  async encodeIngest(
    kind: InputKind,
    inputs: readonly EncoderInput[],
  ): Promise<Record<string, Float32Array[]>> {
    if (kind !== 'text') return {};
    if (this.overloads-- > 0) throw new FarthingError('overloaded', 'busy');
    return { text_semantic: inputs.map(({ length }) => new Float32Array([length])) };
  }

  admitIngest(): void {
    if (this.full) throw new FarthingError('overloaded', 'busy', { retryAfterS: 3 });
  }
}
