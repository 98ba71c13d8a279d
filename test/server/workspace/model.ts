import { MINUTE_MS } from '../../../src/protocol/clock.ts';
import type { StepId, WorkspaceId } from '../../../src/protocol/id.ts';
import { PRICING, REFUND_MINUTES } from './world.ts';

export interface ModelStep {
  readonly id: StepId;
  readonly minutes: number;
  readonly price: bigint;
  readonly since: number;
  readonly isReserve: boolean;
  state: 'pending' | 'committed' | 'undone';
}

/** The expected workspace. Times in milliseconds of rented time. */
export interface ModelWorkspace {
  readonly id: WorkspaceId;
  readonly price: bigint;
  readonly minutes: number;
  readonly spendLimit: bigint | null;
  state: 'pending' | 'undone' | 'active' | 'disposed' | 'forgotten';
  reason?: 'deleted' | 'expired' | 'operator';
  /** The token that opens it; undefined when its holder has lost it. */
  token?: string;
  /** Tokens that must no longer open it. */
  readonly deadTokens: string[];
  /** With the minutes in reserve. */
  endsAt: number;
  /** Without what is in reserve. */
  spend: bigint;
  /** Minutes. */
  reserve: number;
  readonly steps: ModelStep[];
  digests: string[];
  ingests: number;
  searches: number;
  /** Counts that survive a crash. */
  searchesKept: number;
  ingestsKept: number;
  disposedAt: number;
  receipt?: string;
}

export const HOLD_MS = 15 * MINUTE_MS;
const PENDING_MS = 24 * 60 * MINUTE_MS;
export const REPEAT_MS = 24 * 60 * MINUTE_MS;
export const RETENTION_MS = 90 * 24 * 60 * MINUTE_MS;

/** The rules, written a second time and as plainly as possible. */
export class Model {
  readonly workspaces: ModelWorkspace[] = [];
  now = 0;
  /** Owed to payers for minutes in reserve that were not used. */
  returned = 0n;

  isLive(workspace: ModelWorkspace): boolean {
    return workspace.state === 'active' && this.now < workspace.endsAt;
  }

  /** Each time that the other minutes have run out, one of the reserve is added to them. */
  useReserves(): void {
    for (const workspace of this.workspaces)
      while (workspace.reserve > 0 && this.now > workspace.endsAt - workspace.reserve * MINUTE_MS) {
        workspace.reserve -= 1;
        workspace.spend += PRICING.perMinute;
      }
  }

  endReserve(workspace: ModelWorkspace): void {
    this.returned += PRICING.perMinute * BigInt(workspace.reserve);
    workspace.endsAt -= workspace.reserve * MINUTE_MS;
    workspace.reserve = 0;
  }

  /** Spent, or in reserve. */
  bound({ spend, reserve }: ModelWorkspace): bigint {
    return spend + PRICING.perMinute * BigInt(reserve);
  }

  /** Whether its time is over and no open extension keeps it. */
  isDue(workspace: ModelWorkspace): boolean {
    if (workspace.state !== 'active' || this.now < workspace.endsAt) return false;
    return workspace.steps.every(({ state, since }) => state !== 'pending' || this.now >= since + HOLD_MS);
  }

  /** The expected refusal of an extension, if any. */
  refusalOfExtension(workspace: ModelWorkspace, minutes: number): string | undefined {
    if (!this.isLive(workspace)) return 'workspace_unauthorized';
    const price = PRICING.perMinute * BigInt(minutes);
    const pending = workspace.steps.filter(
      ({ state, since }) => state === 'pending' && since > this.now - PENDING_MS,
    );
    if (pending.length >= 32) return 'rate_limited';
    const spend = pending.reduce((sum, step) => sum + step.price, this.bound(workspace)) + price;
    if (workspace.spendLimit !== null && spend > workspace.spendLimit) return 'spend_limit_exceeded';
    const left =
      workspace.endsAt -
      this.now +
      (pending.reduce((sum, step) => sum + step.minutes, 0) + minutes) * MINUTE_MS;
    return left > PRICING.ttlTotalMinutesMax * MINUTE_MS ? 'ttl_limit_exceeded' : undefined;
  }

  commit(workspace: ModelWorkspace, step: ModelStep): void {
    if (step.state === 'committed') return;
    step.state = 'committed';
    const isActive = workspace.state === 'active';
    if (!step.isReserve) workspace.spend += step.price;
    else if (isActive) workspace.reserve += step.minutes;
    else this.returned += step.price;
    if (isActive) workspace.endsAt = Math.max(workspace.endsAt, this.now) + step.minutes * MINUTE_MS;
  }

  dispose(workspace: ModelWorkspace, reason: ModelWorkspace['reason']): void {
    this.endReserve(workspace);
    workspace.state = 'disposed';
    workspace.reason = reason;
    workspace.disposedAt = this.now;
  }

  /** The process ended and started again; `heartbeat` is the last one before. */
  restart(heartbeat: { rented: number; wall: number }, wall: number): void {
    const down = Math.max(0, wall - heartbeat.wall);
    this.now = heartbeat.rented + Math.max(0, down - REFUND_MINUTES * MINUTE_MS);
    this.useReserves();
    for (const workspace of this.workspaces) {
      workspace.searches = workspace.searchesKept;
      workspace.ingests = workspace.ingestsKept;
    }
  }
}
