import type { WorkspaceAnswer } from '../../api/workspaces.ts';
import { toTimestamp } from '../../domain/clock.ts';
import { formatUsd } from '../../domain/money.ts';
import type { WorkspaceRecord } from '../../domain/workspace.ts';
import type { Step } from '../records/extensions.ts';
import type { RentedTime } from '../time/rented-time.ts';

/** Whole seconds left, rounded down; 0 for a workspace that has ended. */
export function secondsLeft(record: WorkspaceRecord, time: RentedTime): number {
  return record.state === 'active' ? Math.max(0, Math.floor((record.endsAt - time.now()) / 1000)) : 0;
}

/** The state as shown: `disposing` from the moment of expiry. */
export function publicState({ state, endsAt }: WorkspaceRecord, time: RentedTime): WorkspaceAnswer['state'] {
  switch (state) {
    case 'pending':
    case 'disposing':
      return 'disposing';
    case 'active':
      return time.now() < endsAt ? 'active' : 'disposing';
    case 'disposed':
      return 'disposed';
  }
}

/** RFC 3339: when the paid time ends, as it looks now, or ended. */
export function expiryOf({ end, endsAt }: WorkspaceRecord, time: RentedTime): string {
  return toTimestamp(end?.expiresAt ?? time.toWall(endsAt));
}

export function publicWorkspace(
  record: WorkspaceRecord,
  time: RentedTime,
  shown: { limits: Readonly<Record<string, unknown>>; links?: Readonly<Record<string, string>> },
): WorkspaceAnswer {
  return {
    id: record.id,
    state: publicState(record, time),
    created_at: toTimestamp(record.createdAt),
    expires_at: expiryOf(record, time),
    ttl_minutes_asked: record.ttlMinutesAsked,
    ttl_minutes: record.ttlMinutes,
    ttl_seconds_left: secondsLeft(record, time),
    price_usd: formatUsd(record.price),
    spend_usd: formatUsd(record.spend),
    spend_limit_usd: record.spendLimit === null ? null : formatUsd(record.spendLimit),
    ...shown,
  };
}

/** The record as the answer to an extension, with the step's minutes and price. It has no links, because anyone may pay. */
export function extendedWorkspace(
  record: WorkspaceRecord,
  step: Step,
  time: RentedTime,
  limits: Readonly<Record<string, unknown>>,
): WorkspaceAnswer {
  return {
    ...publicWorkspace(record, time, { limits }),
    ttl_minutes_asked: step.minutesAsked,
    ttl_minutes: step.minutes,
    price_usd: formatUsd(step.price),
  };
}

/** Headers with the seconds and dollars left. */
export function workspaceHeaders(record: WorkspaceRecord, time: RentedTime): Record<string, string> {
  const seconds = { 'X-Workspace-TTL-Seconds': String(secondsLeft(record, time)) };
  if (record.spendLimit === null) return seconds;
  const left = record.spendLimit - record.spend;
  return { ...seconds, 'X-Workspace-Spend-Remaining-USD': formatUsd(left < 0n ? 0n : left) };
}
