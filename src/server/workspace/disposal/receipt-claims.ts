import { DAY_MS, HOUR_MS, toTimestamp } from '@farthing/protocol/clock';
import type { WorkspaceId } from '@farthing/protocol/id';
import { formatUsd } from '@farthing/protocol/money';
import type { KeptFact, ReceiptClaims } from '@farthing/protocol/schema/workspaces';
import type { Counters } from '../activity/activity.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import type { WorkspaceRecord } from '../workspace.ts';

/**
 * Data of a workspace that other components retain, given its record, when it was disposed of (wall clock, in milliseconds), and
 * which servers may have a copy of it.
 */
export type KeptElsewhere = (
  record: WorkspaceRecord,
  disposedAt: number,
  servers: readonly string[],
) => readonly KeptFact[] | Promise<readonly KeptFact[]>;

/** Has other servers remove what they have of a workspace. @returns ids of those that did, and of those that may have something left */
export type RemoveCopies = (
  workspace: WorkspaceId,
) => Promise<{ readonly removed: readonly string[]; readonly left: readonly string[] }>;

export interface ClaimsInput {
  readonly record: WorkspaceRecord;
  readonly counters: Counters;
  readonly issuer: string;
  /** Wall clock, in milliseconds. */
  readonly disposedAt: number;
  readonly settings: WorkspaceSettings;
  readonly keptElsewhere: readonly KeptFact[];
  /** Encrypted copies beyond this disk were destroyed, too. */
  readonly hadCopies: boolean;
  /** Ids of servers that had a copy, and say that they have removed it. */
  readonly removedBy: readonly string[];
}

/** Content of a disposal receipt. */
export function receiptClaims({
  record,
  counters,
  issuer,
  disposedAt,
  settings,
  keptElsewhere,
  hadCopies,
  removedBy,
}: ClaimsInput): ReceiptClaims {
  const { reason, expiresAt, inventory, tokenKept } = record.end ?? {};
  const { items = null, segments = null, bytes = null, itemsDigest = null } = inventory ?? {};
  return {
    iss: issuer,
    sub: record.id,
    iat: Math.floor(disposedAt / 1000),
    workspace: record.id,
    created_at: toTimestamp(record.createdAt),
    expires_at: toTimestamp(expiresAt ?? disposedAt),
    disposed_at: toTimestamp(disposedAt),
    reason,
    items,
    segments,
    bytes,
    items_sha256: itemsDigest,
    searches: counters.searches,
    ingests: counters.ingests,
    spend_usd: formatUsd(record.spend),
    // Nothing is signed before the store lists no object of the workspace, and its key is deleted.
    ...(hadCopies && {
      copies: {
        objects_left: 0,
        key_destroyed: true,
        ...(removedBy.length > 0 && { removed_by: removedBy }),
      },
    }),
    kept: [...keptHere(disposedAt, (tokenKept ?? false) && !record.house, settings), ...keptElsewhere],
  };
}

function keptHere(disposedAt: number, tokenKept: boolean, settings: WorkspaceSettings): KeptFact[] {
  const record: KeptFact = {
    what: 'id, times, counts, amounts and this receipt',
    why: 'the books',
    until: toTimestamp(disposedAt + settings.recordRetentionDays * DAY_MS),
  };
  const token: KeptFact = {
    what: 'SHA-256 of the capability token',
    why: 'answering the same DELETE again',
    until: toTimestamp(disposedAt + settings.repeatedDeleteHours * HOUR_MS),
  };
  return tokenKept ? [token, record] : [record];
}
