import { toTimestamp } from '@farthing/protocol/clock';
import { formatUsd } from '@farthing/protocol/money';
import type { HouseWorkspaceAnswer } from '@farthing/protocol/schema/house';
import type { WorkspaceAnswer } from '@farthing/protocol/schema/workspaces';
import type { Step } from '../records/extensions.ts';
import { sumOfReserves, unusedReserves } from '../records/reserves.ts';
import type { RentedClock } from '../time/rented-time.ts';
import type { WorkspaceRecord } from '../workspace.ts';

/** Whole seconds left, rounded down; 0 for a workspace that has ended. */
export function secondsLeft(record: WorkspaceRecord, time: RentedClock): number {
  return record.state === 'active' ? Math.max(0, Math.floor((record.endsAt - time.now()) / 1000)) : 0;
}

/** The state as shown: `disposing` from the moment of expiry. */
export function publicState({ state, endsAt }: WorkspaceRecord, time: RentedClock): WorkspaceAnswer['state'] {
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
export function expiryOf({ end, endsAt }: WorkspaceRecord, time: RentedClock): string {
  return toTimestamp(end?.expiresAt ?? time.toWall(endsAt));
}

/** Whether there is no time after which it ends by itself. */
export function isEndless({ house, end }: WorkspaceRecord): boolean {
  return house !== undefined && end === undefined;
}

/** Minutes in reserve that are not used yet, and what is spent without them. */
export function spending(
  record: WorkspaceRecord,
  time: RentedClock,
): { spend_usd: string; reserve: { minutes: number; usd: string } } {
  const { minutes, amount } = sumOfReserves(unusedReserves(record, time.now()));
  return { spend_usd: formatUsd(record.spend - amount), reserve: { minutes, usd: formatUsd(amount) } };
}

export function publicWorkspace(
  record: WorkspaceRecord,
  time: RentedClock,
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
    ...spending(record, time),
    spend_limit_usd: record.spendLimit === null ? null : formatUsd(record.spendLimit),
    ...(record.language !== undefined && { language: record.language }),
    ...shown,
  };
}

/** A workspace of the house. */
export function houseWorkspace(
  record: WorkspaceRecord,
  time: RentedClock,
  { limits, links }: Pick<HouseWorkspaceAnswer, 'limits' | 'links'>,
): HouseWorkspaceAnswer {
  // There is nothing to pay for.
  const { extend: _, reserve: __, ...usable } = links;
  return {
    id: record.id,
    house: true,
    ...(record.house?.name !== undefined && { name: record.house.name }),
    state: publicState(record, time),
    created_at: toTimestamp(record.createdAt),
    ...(record.language !== undefined && { language: record.language }),
    limits,
    links: usable,
  };
}

/** The record as the answer to an extension, with the step's minutes and price. It has no links, because anyone may pay. */
export function extendedWorkspace(
  record: WorkspaceRecord,
  step: Step,
  time: RentedClock,
  limits: Readonly<Record<string, unknown>>,
): WorkspaceAnswer {
  return {
    ...publicWorkspace(record, time, { limits }),
    ttl_minutes_asked: step.minutesAsked,
    ttl_minutes: step.minutes,
    price_usd: formatUsd(step.price),
  };
}

/** Answers warn of the end of their workspace in its last seconds, this many. */
const ENDS_SOON_S = 120;

/** Headers with the seconds and dollars left, and a warning before the end; none for the house, which has neither. */
export function workspaceHeaders(record: WorkspaceRecord, time: RentedClock): Record<string, string> {
  if (record.house) return {};
  const seconds = secondsLeft(record, time);
  const { minutes } = sumOfReserves(unusedReserves(record, time.now()));
  const left = record.spendLimit === null ? undefined : record.spendLimit - record.spend;
  return {
    'X-Workspace-TTL-Seconds': String(seconds),
    ...(seconds <= ENDS_SOON_S && {
      'X-Workspace-TTL-Warning': `The workspace ends in ${seconds} s. POST /agent/v1/workspaces/${record.id}/extend adds minutes.`,
    }),
    ...(minutes > 0 && { 'X-Workspace-Reserve-Minutes': String(minutes) }),
    ...(left !== undefined && { 'X-Workspace-Spend-Remaining-USD': formatUsd(left < 0n ? 0n : left) }),
  };
}
