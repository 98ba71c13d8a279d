import type { NativeShard, Shard } from './shard.ts';

/** An index that is open, opening or closing; a Tenant has at most one at a time. */
export interface Entry {
  readonly opening: Promise<{ native: NativeShard; shard: Shard }>;
  opened?: { native: NativeShard; shard: Shard };
  leases: number;
  /** When the last lease ended, in milliseconds of the monotonic clock. */
  usedAt: number;
  /** Set while it closes; the next use of the Tenant waits for it. */
  closing?: Promise<void>;
  whenFree?: () => void;
}

/** An entry with a lease stays open until the lease ends. */
export type Leased = Entry & Required<Pick<Entry, 'opened'>>;

export function giveBack(entry: Entry): void {
  entry.leases -= 1;
  entry.usedAt = performance.now();
  if (entry.leases === 0) entry.whenFree?.();
}

/** Resolves when no lease is left. */
export async function free(entry: Entry): Promise<void> {
  if (entry.leases === 0) return;
  await new Promise<void>((resolveFree) => {
    const before = entry.whenFree;
    entry.whenFree = () => {
      before?.();
      resolveFree();
    };
  });
}
