import { MINUTE_MS } from '../../src/domain/clock.ts';
import type { StepId, WorkspaceId } from '../../src/domain/id.ts';
import { PRICING, REFUND_MINUTES } from './world.ts';

export interface ModelStep {
  readonly id: StepId;
  readonly minutes: number;
  readonly price: bigint;
  readonly since: number;
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
  endsAt: number;
  spend: bigint;
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

  isLive(workspace: ModelWorkspace): boolean {
    return workspace.state === 'active' && this.now < workspace.endsAt;
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
    const spend = pending.reduce((sum, step) => sum + step.price, workspace.spend) + price;
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
    workspace.spend += step.price;
    if (workspace.state === 'active')
      workspace.endsAt = Math.max(workspace.endsAt, this.now) + step.minutes * MINUTE_MS;
  }

  dispose(workspace: ModelWorkspace, reason: ModelWorkspace['reason']): void {
    workspace.state = 'disposed';
    workspace.reason = reason;
    workspace.disposedAt = this.now;
  }

  /** The process ended and started again; `heartbeat` is the last one before. */
  restart(heartbeat: { rented: number; wall: number }, wall: number): void {
    const down = Math.max(0, wall - heartbeat.wall);
    this.now = heartbeat.rented + Math.max(0, down - REFUND_MINUTES * MINUTE_MS);
    for (const workspace of this.workspaces) {
      workspace.searches = workspace.searchesKept;
      workspace.ingests = workspace.ingestsKept;
    }
  }
}
