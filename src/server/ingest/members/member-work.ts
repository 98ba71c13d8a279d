import type { FileInfo, UnpackedMember } from '@farthing/protocol/document';
import { ERRORS, errorCode, FarthingError } from '@farthing/protocol/error';
import { FAMILIES, type Family } from '@farthing/protocol/family';
import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
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

export interface MemberWorkDeps extends ReadDeps {
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
}

/** Outcome of the files inside another. */
interface MembersDone {
  readonly families: readonly Family[];
  readonly segments: number;
  readonly failed: number;
  readonly duplicates: number;
  /** Read now or before. */
  readonly read: number;
}

export interface MembersProgress {
  unpacked(count: number): void;
  /** All are unpacked; awaited before they are read. */
  reads(): Promise<void>;
  /** `done` members are indexed with everything inside them; `segments` is their total. */
  read(done: number, segments: number): void;
}

/** One member is read while another is encoded. */
const MEMBERS_AT_ONCE = 2;
const SILENT: Progress = {
  extracting: () => undefined,
  encodes: async () => undefined,
  encoding: () => undefined,
};

/** Files, and their bytes, that may still be unpacked from one upload. */
export interface UnpackBudget {
  members: number;
  bytes: number;
}

/**
 * Unpacks an Item's file and makes each file in it an Item, searchable as soon as it is read. A file that cannot be read
 * becomes a failed Item with the reason; bytes that the Tenant already has become no Item. Safe to repeat after a crash.
 * @param depth of this file: 1 for the uploaded one
 * @throws faults of the server; the signal's reason
 */
async function workOnMembers(
  deps: MemberWorkDeps,
  work: FileWork,
  depth: number,
  budget: UnpackBudget,
  progress: MembersProgress,
): Promise<MembersDone> {
  const { files, extractor } = deps;
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
  let segments = 0;
  const waiting = [...members];
  const indexNext = async (): Promise<void> => {
    for (let member = waiting.shift(); member; member = waiting.shift()) {
      const outcome = await new MemberWork(deps, work, depth, budget).perform(member);
      outcomes.push(outcome);
      if (outcome.kind !== 'duplicate') segments += outcome.item.segments;
      progress.read(outcomes.length, segments);
    }
  };
  await allOrFirst(Array.from({ length: MEMBERS_AT_ONCE }, indexNext), () => waiting.splice(0));
  return summary(outcomes);
}

type Outcome = { readonly kind: 'indexed' | 'failed'; readonly item: Item } | { readonly kind: 'duplicate' };

/** Indexes one file inside another. */
class MemberWork {
  readonly #deps: MemberWorkDeps;
  readonly #parent: FileWork;
  readonly #depth: number;
  readonly #budget: UnpackBudget;

  constructor(deps: MemberWorkDeps, parent: FileWork, depth: number, budget: UnpackBudget) {
    this.#deps = deps;
    this.#parent = parent;
    this.#depth = depth;
    this.#budget = budget;
  }

  async perform(member: UnpackedMember): Promise<Outcome> {
    const { tenant, item: parent, signal } = this.#parent;
    const id = memberId(parent.id, member.index);
    const { files } = this.#deps;
    signal.throwIfAborted();
    const before = await this.#inShard((shard) => this.#sameBytes(shard, member.sha256));
    if (before?.state === 'searchable' && !member.refused) {
      // The member was indexed before a crash. Files inside it may still be missing.
      if (before.id === id && before.members === undefined) return { kind: 'indexed', item: before };
      if (before.id !== id) {
        await files.remove(tenant, id);
        const name = nameOf(member);
        if (!isCalled(before, name)) await this.#inShard((shard) => shard.addAlias(before.id, name));
        return { kind: 'duplicate' };
      }
    }
    const origin = {
      id,
      name: nameOf(member),
      path: member.path,
      parent_item_id: parent.id,
      metadata: parent.metadata,
      bytes: member.bytes,
      sha256: member.sha256,
      created_at: parent.created_at,
      expires_at: parent.expires_at,
    };
    try {
      if (member.refused) throw refusal(member.refused);
      return { kind: 'indexed', item: await this.#index(origin, files.place(tenant, id)) };
    } catch (error) {
      if (!isFaultOfFile(error)) throw error;
      const { code, detail } = error;
      const failed = movedItem(pendingItem(origin, UNKNOWN), 'failed');
      await files.remove(tenant, id);
      const item = { ...failed, error: { code, detail } };
      await this.#inShard(async (shard) => {
        // A failed archive takes its files along: its new record does not know them.
        const before = shard.item(id);
        const folder = this.#deps.tenants.folder(tenant);
        if (before) await removeMembers(shard, { tenant, folder, files }, before);
        await shard.putItem(item);
      });
      return { kind: 'failed', item };
    }
  }

  /** An Item with the same bytes that will live as long as this one. Items of other keys may be replaced at any time. */
  #sameBytes(shard: IngestShard, sha256: string): Item | undefined {
    const upload = uploadedItem(shard, this.#parent.item);
    if (upload?.key === undefined) return itemWithBytes(shard, sha256);
    return shard.itemsByDigest(sha256).find((item) => uploadedItem(shard, item)?.id === upload.id);
  }

  async #index(origin: Parameters<typeof pendingItem>[0], path: string): Promise<Item> {
    const { extractor } = this.#deps;
    const { tenant, signal } = this.#parent;
    const info = await retryOverloaded(() => extractor.open(path, { name: origin.name, tenant }), signal);
    signal.throwIfAborted();
    const work = { tenant, item: pendingItem(origin, info), path, info, signal };
    const indexed = await indexFile(this.#deps, work, this.#depth + 1, this.#budget, SILENT);
    await this.#inShard(async (shard) => {
      await this.#deps.files.keepPlaced(tenant, origin.id);
      await shard.append(indexed.item, indexed.segments);
    });
    return indexed.item;
  }

  #inShard<T>(work: (shard: IngestShard) => Promise<T> | T): Promise<T> {
    return this.#deps.tenants.use(this.#parent.tenant, {}, work);
  }
}

/**
 * Indexes a file and all files inside it. The Items of the files inside are written; the file's own Item and Segments are
 * returned.
 * @throws as readAndEncode and workOnMembers; document_too_large for archives too deep or too large; tenant_full; the reason
 * of the first file when none in an archive can be read
 */
export async function indexFile(
  deps: MemberWorkDeps,
  work: FileWork,
  depth: number,
  budget: UnpackBudget,
  progress: Progress & Partial<MembersProgress>,
): Promise<IndexedFile> {
  const { info, item, tenant } = work;
  const { members = 0 } = info;
  const isArchive = info.kind === 'archive';
  const isTooDeep = depth > deps.limits.archiveDepthMax;
  if (isArchive && isTooDeep) throw tooDeep(deps.limits.archiveDepthMax);
  const indexed = isArchive
    ? { item: { ...movedItem(item, 'searchable'), not_read: [] }, segments: [] }
    : await readAndEncode(deps, work, progress);
  if (members === 0) return indexed;
  if (isTooDeep) return { ...indexed, item: withoutMembers(indexed.item) };
  budget.members -= members;
  budget.bytes -= info.membersBytes ?? 0;
  if (budget.members < 0 || budget.bytes < 0)
    throw new FarthingError('document_too_large', 'The archives in this upload hold too much together.', {
      facts: {
        limit_members: deps.limits.membersPerUploadMax,
        limit_bytes: deps.limits.memberBytesPerUploadMax,
      },
    });
  await deps.tenants.use(tenant, {}, async (shard) => {
    // Other files may have come since the upload was accepted.
    checkQuota(deps.limits, shard, loadOf(item.bytes, info));
    // The record comes first, so that undoing the job finds the members.
    if (depth > 1) await shard.putItem(item);
  });
  const done = await workOnMembers(deps, work, depth, budget, {
    unpacked: progress.unpacked ?? (() => undefined),
    reads: progress.reads ?? (async () => undefined),
    read: progress.read ?? (() => undefined),
  });
  if (isArchive && done.read === 0) throw await noneRead(deps, work);
  const found = [...indexed.item.families, ...done.families];
  return {
    segments: indexed.segments,
    item: {
      ...indexed.item,
      families: FAMILIES.filter((family) => found.includes(family)),
      segments: indexed.segments.length + done.segments,
      not_read: addNotRead(indexed.item.not_read ?? [], ...refused(done.failed, isArchive)),
      ...(done.failed > 0 && { members_failed: done.failed }),
      ...(done.duplicates > 0 && { members_duplicate: done.duplicates }),
    },
  };
}

const UNKNOWN: FileInfo = { kind: 'text', mediaType: 'application/octet-stream' };

function refused(count: number, isArchive: boolean): readonly NotRead[] {
  return count > 0 ? [{ what: isArchive ? 'members' : 'attachments', count, why: 'refused' }] : [];
}

function withoutMembers({ members: count, not_read = [], ...item }: Item): Item {
  return { ...item, not_read: addNotRead(not_read, { what: 'attachments', count, why: 'limit' }) };
}

function summary(outcomes: readonly Outcome[]): MembersDone {
  const items = outcomes.flatMap((outcome) => (outcome.kind === 'duplicate' ? [] : [outcome.item]));
  return {
    families: FAMILIES.filter((family) => items.some(({ families }) => families.includes(family))),
    segments: items.reduce((sum, { segments }) => sum + segments, 0),
    failed: outcomes.filter(({ kind }) => kind === 'failed').length,
    duplicates: outcomes.filter(({ kind }) => kind === 'duplicate').length,
    read: outcomes.filter(({ kind }) => kind !== 'failed').length,
  };
}

function nameOf({ path }: UnpackedMember): string {
  return path.split('/').at(-1)!;
}

/** Why nothing in an archive can be read: the reason of its first file. */
async function noneRead({ tenants }: MemberWorkDeps, { tenant, item }: FileWork): Promise<FarthingError> {
  const first = await tenants.use(tenant, {}, (shard) => shard.item(memberId(item.id, 0)));
  const { code, detail } = first?.error ?? {};
  return new FarthingError(
    errorCode({ code }) ?? 'extraction_failed',
    `None of the ${item.members} files in it can be read. The first: ${detail ?? 'it is gone.'}`,
  );
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
