import type { FileInfo, UnpackedMember } from '../../domain/document.ts';
import { ERRORS, errorCode, FarthingError } from '../../domain/error.ts';
import { FAMILIES, type Family } from '../../domain/family.ts';
import { type Item, movedItem } from '../../domain/item.ts';
import { fileOf, removeFile } from '../items/files.ts';
import { pendingItem } from '../items/new-item.ts';
import { checkQuota, loadOf } from '../items/quota.ts';
import type { IngestShard, IngestTenants } from '../ports/ports.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import { type FileWork, type Progress, type WorkDeps, workOn } from '../segments/read-and-encode.ts';
import { memberId, removeMembers } from './members.ts';

export interface MemberWorkDeps extends WorkDeps {
  readonly tenants: IngestTenants;
}

/** What came of the files inside another. */
export interface MembersDone {
  readonly families: readonly Family[];
  readonly segments: number;
  readonly failed: number;
  readonly duplicates: number;
}

export interface MembersProgress {
  unpacked(count: number): void;
  /** Once all are unpacked. */
  reads(): Promise<void>;
  /** A member and all of its own are done; `segments`: of all that are. */
  read(done: number, segments: number): void;
}

/** One is read while another is encoded. */
const MEMBERS_AT_ONCE = 2;
const SILENT: Progress = {
  extracting: () => undefined,
  encodes: async () => undefined,
  encoding: () => undefined,
};

/** Files, and bytes of them, that may still be unpacked of what was sent with one upload. */
export interface UnpackBudget {
  members: number;
  bytes: number;
}

/**
 * Unpacks an Item's file and makes each file in it an Item of its own, searchable as soon as it is read. Those that can't be read become
 * failed Items with their reason; bytes that the Tenant has already become none. Begun again after a crash, it goes over what is there.
 * @param depth of this file: 1 for what was sent
 * @throws the reason of the files when none of them can be read; faults of the server; the signal's reason
 */
export async function workOnMembers(
  deps: MemberWorkDeps,
  work: FileWork,
  depth: number,
  budget: UnpackBudget,
  progress: MembersProgress,
): Promise<MembersDone> {
  const { tenants, extractor } = deps;
  const { tenant, item, opened, path, signal } = work;
  const folder = tenants.folder(tenant);
  const members = await extractor.unpack(path, opened, {
    signal,
    target: (index) => fileOf(folder, memberId(item.id, index)),
    onMember: progress.unpacked,
  });
  signal.throwIfAborted();
  await progress.reads();
  const outcomes: Outcome[] = [];
  let segments = 0;
  const waiting = [...members];
  const turn = async (): Promise<void> => {
    for (let member = waiting.shift(); member; member = waiting.shift()) {
      const outcome = await new MemberWork(deps, work, depth, budget).perform(member);
      outcomes.push(outcome);
      segments += outcome.item?.segments ?? 0;
      progress.read(outcomes.length, segments);
    }
  };
  await allOrFirst(Array.from({ length: MEMBERS_AT_ONCE }, turn), () => waiting.splice(0));
  return summary(outcomes);
}

type Outcome =
  | { readonly item: Item; readonly duplicate?: undefined }
  | { readonly item?: undefined; readonly duplicate: true };

/** One file inside another. */
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
    const folder = this.#deps.tenants.folder(tenant);
    const path = fileOf(folder, id);
    signal.throwIfAborted();
    const before = await this.#inShard((shard) => shard.itemByDigest(member.sha256));
    if (before?.state === 'searchable' && !member.refused) {
      // Its own Item, before a crash: then all is done, but for files inside it.
      if (before.id === id && before.members === undefined) return { item: before };
      if (before.id !== id) {
        await removeFile(path);
        return { duplicate: true };
      }
    }
    const origin = {
      id,
      name: member.path.split('/').at(-1)!,
      path: member.path,
      parent_item_id: parent.id,
      bytes: member.bytes,
      sha256: member.sha256,
      created_at: parent.created_at,
      expires_at: parent.expires_at,
    };
    try {
      if (member.refused) throw refusal(member.refused);
      return { item: await this.#index(origin, path) };
    } catch (error) {
      if (!isFaultOfFile(error)) throw error;
      const { code, detail } = error;
      const failed = movedItem(pendingItem(origin, UNKNOWN), 'failed');
      await removeFile(path);
      const item = { ...failed, error: { code, detail } };
      await this.#inShard(async (shard) => {
        // An archive that fails takes its own files along, as that which was sent does: its new record knows none.
        const before = shard.item(id);
        if (before) await removeMembers(shard, folder, before);
        await shard.putItem(item);
      });
      return { item };
    }
  }

  async #index(origin: Parameters<typeof pendingItem>[0], path: string): Promise<Item> {
    const { extractor } = this.#deps;
    const { tenant, signal } = this.#parent;
    const opened = await retryOverloaded(() => extractor.open(path, { name: origin.name, tenant }), signal);
    signal.throwIfAborted();
    const work = { tenant, item: pendingItem(origin, opened), path, opened, signal };
    const indexed = await indexFile(this.#deps, work, this.#depth + 1, this.#budget, SILENT);
    await this.#inShard((shard) => shard.append(indexed.item, indexed.segments));
    return indexed.item;
  }

  #inShard<T>(work: (shard: IngestShard) => Promise<T> | T): Promise<T> {
    return this.#deps.tenants.use(this.#parent.tenant, {}, work);
  }
}

/**
 * A file and all files inside it. What it finds in the file itself is given back, the Items of the files inside are written already.
 * @throws as workOn and workOnMembers; document_too_large for an archive that lies too deep; tenant_full.
 */
export async function indexFile(
  deps: MemberWorkDeps,
  work: FileWork,
  depth: number,
  budget: UnpackBudget,
  progress: Progress & Partial<MembersProgress>,
): ReturnType<typeof workOn> {
  const { opened, item, tenant } = work;
  const { members = 0 } = opened;
  const isArchive = opened.kind === 'archive';
  const isTooDeep = depth > deps.limits.archiveDepthMax;
  if (isArchive && isTooDeep) throw tooDeep(deps.limits.archiveDepthMax);
  const own = isArchive
    ? { item: movedItem(item, 'searchable'), segments: [] }
    : await workOn(deps, work, progress);
  if (members === 0 || isTooDeep) return members === 0 ? own : { ...own, item: withoutMembers(own.item) };
  budget.members -= members;
  budget.bytes -= opened.membersBytes ?? 0;
  if (budget.members < 0 || budget.bytes < 0)
    throw new FarthingError('document_too_large', 'The archives in this upload hold too much together.', {
      facts: {
        limit_members: deps.limits.membersPerUploadMax,
        limit_bytes: deps.limits.memberBytesPerUploadMax,
      },
    });
  await deps.tenants.use(tenant, {}, async (shard) => {
    // What an archive holds is known when it is opened: other files may have come since the upload was accepted.
    checkQuota(deps.limits, shard, loadOf(item.bytes, opened));
    // Its record comes first, so that whoever undoes this knows what there may be to undo.
    if (depth > 1) await shard.putItem(item);
  });
  const done = await workOnMembers(deps, work, depth, budget, {
    unpacked: progress.unpacked ?? (() => undefined),
    reads: progress.reads ?? (async () => undefined),
    read: progress.read ?? (() => undefined),
  });
  if (isArchive && done.families.length === 0 && done.duplicates === 0) throw await noneRead(deps, work);
  const families = FAMILIES.filter((one) => own.item.families.includes(one) || done.families.includes(one));
  return {
    segments: own.segments,
    item: {
      ...own.item,
      families,
      segments: own.segments.length + done.segments,
      ...(done.failed > 0 && { members_failed: done.failed }),
      ...(done.duplicates > 0 && { members_duplicate: done.duplicates }),
    },
  };
}

const UNKNOWN: FileInfo = { kind: 'text', mediaType: 'application/octet-stream' };

function withoutMembers({ members: _unread, ...item }: Item): Item {
  return { ...item, not_searchable: [...(item.not_searchable ?? []), 'attachments'] };
}

function summary(outcomes: readonly Outcome[]): MembersDone {
  const items = outcomes.flatMap(({ item }) => (item ? [item] : []));
  return {
    families: FAMILIES.filter((family) => items.some(({ families }) => families.includes(family))),
    segments: items.reduce((sum, { segments }) => sum + segments, 0),
    failed: items.filter(({ state }) => state === 'failed').length,
    duplicates: outcomes.filter(({ duplicate }) => duplicate).length,
  };
}

/** The reason of an archive of which nothing can be read: that of its first file. */
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

/** What another file would not have met: refusals by its own content. */
function isFaultOfFile(error: unknown): error is FarthingError {
  const code = errorCode(error);
  return code !== undefined && [413, 415, 422].includes(ERRORS[code][0]) && code !== 'tenant_full';
}

function tooDeep(limit: number): FarthingError {
  return new FarthingError('document_too_large', `Archives in archives are read to a depth of ${limit}.`, {
    facts: { limit_depth: limit },
  });
}

/** Waits for all, whatever becomes of one: nothing works on when this ends. @throws the first failure. */
async function allOrFirst(running: readonly Promise<void>[], giveUp: () => void): Promise<void> {
  const ended = await Promise.allSettled(
    running.map((one) =>
      one.catch((error: unknown) => {
        giveUp();
        throw error;
      }),
    ),
  );
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
