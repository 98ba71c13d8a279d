import type { FileInfo, UnpackedMember } from '@farthing/protocol/document';
import { ERRORS, errorCode, FarthingError } from '@farthing/protocol/error';
import { FAMILIES } from '@farthing/protocol/family';
import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import type { TenantId } from '@farthing/protocol/id';
import { isCalled, movedItem } from '@farthing/protocol/item';
import type { Item } from '@farthing/protocol/schema/items';
import { pendingItem } from '../items/new-item.ts';
import { checkQuota, loadOf } from '../items/quota.ts';
import type { IngestShard, IngestTenants, StoredFiles } from '../ports/ports.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import {
  type FileWork,
  type IndexedFile,
  type Progress,
  type ReadDeps,
  readAndEncode,
} from '../segments/read-and-encode.ts';
import { memberId, removeMembers, uploadedItem } from './members.ts';
import { itemWithBytes } from './replacing.ts';

export interface FileIndexingDeps extends ReadDeps {
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
}

export interface MembersProgress {
  unpacked(count: number): void;
  /** All are unpacked; awaited before they are read. */
  reads(): Promise<void>;
  /** `done` members are indexed with everything inside them; `segments` is their total. */
  read(done: number, segments: number): void;
}

/** Outcome of one file inside another. */
type Outcome = { readonly kind: 'indexed' | 'failed'; readonly item: Item } | { readonly kind: 'duplicate' };

/** One member is read while another is encoded. */
const MEMBERS_AT_ONCE = 2;
const UNKNOWN: FileInfo = { kind: 'text', mediaType: 'application/octet-stream' };
const SILENT: Progress & MembersProgress = {
  extracting: () => undefined,
  encodes: async () => undefined,
  encoding: () => undefined,
  unpacked: () => undefined,
  reads: async () => undefined,
  read: () => undefined,
};

/**
 * Makes the file of one upload, and each file inside it, searchable. Safe to repeat after a crash:
 *
 *     jobs/runner ─ index ─ readAndEncode: the file itself
 *                     └ unpack ─ each file inside ─ index, one deeper ─ its Item appended: searchable
 *                 ─ Replacing.commit: the upload's own Item appended, last, in place of those with its key
 *
 * `members.ts` has the ids of the files inside and removes them; it and `replacing.ts` are all that this folder calls within itself.
 */
export class FileIndexing {
  readonly #deps: FileIndexingDeps;
  /** Files, and their bytes, that may still be unpacked from this upload. */
  #membersLeft: number;
  #bytesLeft: number;

  constructor(deps: FileIndexingDeps) {
    this.#deps = deps;
    this.#membersLeft = deps.limits.membersPerUploadMax;
    this.#bytesLeft = deps.limits.memberBytesPerUploadMax;
  }

  /**
   * Indexes a file and all files inside it. The Items of the files inside are written; the file's own Item and Segments are
   * returned.
   * @param depth of this file: 1 for the uploaded one
   * @throws as readAndEncode; faults of the server; the signal's reason; document_too_large for archives too deep or too large;
   * tenant_full; the reason of the first file when none in an archive can be read
   */
  async index(
    work: FileWork,
    progress: Progress & MembersProgress = SILENT,
    depth = 1,
  ): Promise<IndexedFile> {
    const { info, item } = work;
    const { archiveDepthMax } = this.#deps.limits;
    const isArchive = info.kind === 'archive';
    const isTooDeep = depth > archiveDepthMax;
    if (isArchive && isTooDeep) throw tooDeep(archiveDepthMax);
    const indexed = isArchive
      ? { item: { ...movedItem(item, 'searchable'), not_read: [] }, segments: [] }
      : await readAndEncode(this.#deps, work, progress);
    if (!info.members) return indexed;
    if (isTooDeep) return { ...indexed, item: withoutMembers(indexed.item) };
    await this.#checkLimits(work, depth);
    const outcomes = await this.#indexMembers(work, progress, depth);
    if (isArchive && outcomes.every(({ kind }) => kind === 'failed')) throw await this.#noneRead(work);
    return { segments: indexed.segments, item: withOutcomes(indexed, outcomes, isArchive) };
  }

  /** @throws document_too_large, tenant_full */
  async #checkLimits({ info, item, tenant }: FileWork, depth: number): Promise<void> {
    const { limits, tenants } = this.#deps;
    this.#membersLeft -= info.members ?? 0;
    this.#bytesLeft -= info.membersBytes ?? 0;
    if (this.#membersLeft < 0 || this.#bytesLeft < 0)
      throw new FarthingError('document_too_large', 'The archives in this upload hold too much together.', {
        facts: { limit_members: limits.membersPerUploadMax, limit_bytes: limits.memberBytesPerUploadMax },
      });
    await tenants.use(tenant, {}, async (shard) => {
      // Other files may have come since the upload was accepted.
      checkQuota(limits, shard, loadOf(item.bytes, info));
      // The record comes first, so that undoing the job finds the members.
      if (depth > 1) await shard.putItem(item);
    });
  }

  /**
   * Unpacks an Item's file and makes each file in it an Item, searchable as soon as it is read. A file that cannot be read
   * becomes a failed Item with the reason; bytes that the Tenant already has become no Item.
   */
  async #indexMembers(work: FileWork, progress: MembersProgress, depth: number): Promise<Outcome[]> {
    const { files, extractor } = this.#deps;
    const { tenant, item, info, path, signal } = work;
    const members = await extractor.unpack(path, info, {
      tenant,
      signal,
      target: (index) => files.place(tenant, memberId(item.id, index)),
      onMember: progress.unpacked,
    });
    signal.throwIfAborted();
    await progress.reads();
    const outcomes: Outcome[] = [];
    const waiting = [...members];
    const indexNext = async (): Promise<void> => {
      for (let member = waiting.shift(); member; member = waiting.shift()) {
        outcomes.push(await this.#indexMember(work, member, depth + 1));
        progress.read(outcomes.length, segmentsOf(outcomes));
      }
    };
    await allOrFirst(Array.from({ length: MEMBERS_AT_ONCE }, indexNext), () => waiting.splice(0));
    return outcomes;
  }

  async #indexMember(parent: FileWork, member: UnpackedMember, depth: number): Promise<Outcome> {
    const { item, signal } = parent;
    signal.throwIfAborted();
    const known = await this.#knownOutcome(parent, member);
    if (known) return known;
    const origin = {
      id: memberId(item.id, member.index),
      name: nameOf(member),
      path: member.path,
      parent_item_id: item.id,
      metadata: item.metadata,
      bytes: member.bytes,
      sha256: member.sha256,
      created_at: item.created_at,
      expires_at: item.expires_at,
    };
    try {
      if (member.refused) throw refusal(member.refused);
      return { kind: 'indexed', item: await this.#append(parent, origin, depth) };
    } catch (error) {
      if (!isFaultOfFile(error)) throw error;
      return { kind: 'failed', item: await this.#putFailed(parent, origin, error) };
    }
  }

  /** The outcome for bytes that are searchable already; undefined when the member is to be indexed. */
  async #knownOutcome(parent: FileWork, member: UnpackedMember): Promise<Outcome | undefined> {
    const { tenant } = parent;
    const id = memberId(parent.item.id, member.index);
    const before = await this.#inShard(tenant, (shard) => sameBytes(shard, parent.item, member.sha256));
    if (before?.state !== 'searchable' || member.refused) return undefined;
    // The member was indexed before a crash. Files inside it may still be missing.
    if (before.id === id) return before.members === undefined ? { kind: 'indexed', item: before } : undefined;
    await this.#deps.files.remove(tenant, id);
    const name = nameOf(member);
    if (!isCalled(before, name)) await this.#inShard(tenant, (shard) => shard.addAlias(before.id, name));
    return { kind: 'duplicate' };
  }

  async #append({ tenant, signal }: FileWork, origin: Origin, depth: number): Promise<Item> {
    const { extractor, files } = this.#deps;
    const path = files.place(tenant, origin.id);
    const info = await retryOverloaded(() => extractor.open(path, { name: origin.name, tenant }), signal);
    signal.throwIfAborted();
    const work = { tenant, item: pendingItem(origin, info), path, info, signal };
    const { item, segments } = await this.index(work, SILENT, depth);
    await this.#inShard(tenant, async (shard) => {
      await files.keepPlaced(tenant, origin.id);
      await shard.append(item, segments);
    });
    return item;
  }

  async #putFailed({ tenant }: FileWork, origin: Origin, { code, detail }: FarthingError): Promise<Item> {
    const { files, tenants } = this.#deps;
    const item = { ...movedItem(pendingItem(origin, UNKNOWN), 'failed'), error: { code, detail } };
    await files.remove(tenant, origin.id);
    await this.#inShard(tenant, async (shard) => {
      // A failed archive takes its files along: its new record does not know them.
      const before = shard.item(origin.id);
      if (before) await removeMembers(shard, { tenant, folder: tenants.folder(tenant), files }, before);
      await shard.putItem(item);
    });
    return item;
  }

  /** Why nothing in an archive can be read: the reason of its first file. */
  async #noneRead({ tenant, item }: FileWork): Promise<FarthingError> {
    const first = await this.#inShard(tenant, (shard) => shard.item(memberId(item.id, 0)));
    const { code, detail } = first?.error ?? {};
    return new FarthingError(
      errorCode({ code }) ?? 'extraction_failed',
      `None of the ${item.members} files in it can be read. The first: ${detail ?? 'it is gone.'}`,
    );
  }

  #inShard<T>(tenant: TenantId, work: (shard: IngestShard) => Promise<T> | T): Promise<T> {
    return this.#deps.tenants.use(tenant, {}, work);
  }
}

type Origin = Parameters<typeof pendingItem>[0];

/** An Item with the same bytes that will live as long as the parent. Items of other keys may be replaced at any time. */
function sameBytes(shard: IngestShard, parent: Item, sha256: string): Item | undefined {
  const upload = uploadedItem(shard, parent);
  if (upload?.key === undefined) return itemWithBytes(shard, sha256);
  return shard.itemsByDigest(sha256).find((item) => uploadedItem(shard, item)?.id === upload.id);
}

/** The Item of a file with what came of the files inside it. */
function withOutcomes(
  { item, segments }: IndexedFile,
  outcomes: readonly Outcome[],
  isArchive: boolean,
): Item {
  const found = [item, ...itemsOf(outcomes)].flatMap(({ families }) => families);
  const failed = outcomes.filter(({ kind }) => kind === 'failed').length;
  const duplicates = outcomes.filter(({ kind }) => kind === 'duplicate').length;
  return {
    ...item,
    families: FAMILIES.filter((family) => found.includes(family)),
    segments: segments.length + segmentsOf(outcomes),
    not_read: addNotRead(item.not_read ?? [], ...refused(failed, isArchive)),
    ...(failed > 0 && { members_failed: failed }),
    ...(duplicates > 0 && { members_duplicate: duplicates }),
  };
}

function itemsOf(outcomes: readonly Outcome[]): Item[] {
  return outcomes.flatMap((outcome) => (outcome.kind === 'duplicate' ? [] : [outcome.item]));
}

function segmentsOf(outcomes: readonly Outcome[]): number {
  return itemsOf(outcomes).reduce((sum, { segments }) => sum + segments, 0);
}

function refused(count: number, isArchive: boolean): readonly NotRead[] {
  return count > 0 ? [{ what: isArchive ? 'members' : 'attachments', count, why: 'refused' }] : [];
}

function withoutMembers({ members: count, not_read = [], ...item }: Item): Item {
  return { ...item, not_read: addNotRead(not_read, { what: 'attachments', count, why: 'limit' }) };
}

function nameOf({ path }: UnpackedMember): string {
  return path.split('/').at(-1)!;
}

function refusal({ code, detail }: NonNullable<UnpackedMember['refused']>): FarthingError {
  return new FarthingError(errorCode({ code }) ?? 'extraction_failed', detail);
}

/** Whether the file's content is the reason, not the server or the Tenant's quota. */
function isFaultOfFile(error: unknown): error is FarthingError {
  const code = errorCode(error);
  return code !== undefined && [413, 415, 422].includes(ERRORS[code][0]) && code !== 'tenant_full';
}

function tooDeep(limit: number): FarthingError {
  return new FarthingError('document_too_large', `Archives in archives are read to a depth of ${limit}.`, {
    facts: { limit_depth: limit },
  });
}

/** Waits for all, even after a failure, so that nothing is still running afterwards. Calls `giveUp` at a failure. @throws the first failure. */
async function allOrFirst(running: readonly Promise<void>[], giveUp: () => void): Promise<void> {
  const ended = await Promise.allSettled(
    running.map((work) =>
      work.catch((error: unknown) => {
        giveUp();
        throw error;
      }),
    ),
  );
  const failed = ended.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
