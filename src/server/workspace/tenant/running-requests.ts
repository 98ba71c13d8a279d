import type { TenantId } from '@farthing/protocol/id';

interface Running {
  count: number;
  readonly givingUp: Set<() => void>;
  readonly waiting: Set<() => void>;
}

/** Counts each Tenant's running requests, so that a disposal can wait for them. */
export class RunningRequests {
  readonly #running = new Map<TenantId, Running>();

  /**
   * A request begins.
   * @param giveUp called when the Tenant’s data is about to be destroyed: what the request still waits for is not to come
   * @returns a function to call at its end; repeated calls do nothing.
   */
  enter(tenant: TenantId, giveUp?: () => void): () => void {
    const running = this.#running.get(tenant) ?? { count: 0, waiting: new Set(), givingUp: new Set() };
    running.count += 1;
    if (giveUp) running.givingUp.add(giveUp);
    this.#running.set(tenant, running);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      if (giveUp) running.givingUp.delete(giveUp);
      running.count -= 1;
      if (running.count > 0) return;
      this.#running.delete(tenant);
      for (const proceed of running.waiting) proceed();
    };
  }

  /** The Tenant’s requests wait for nothing more from their clients. */
  giveUp(tenant: TenantId): void {
    for (const giveUp of this.#running.get(tenant)?.givingUp ?? []) giveUp();
  }

  has(tenant: TenantId): boolean {
    return this.#running.has(tenant);
  }

  /** Resolves with true when none of the Tenant's requests runs, with false after `secondsMax` (absent: never). */
  async ended(tenant: TenantId, secondsMax?: number): Promise<boolean> {
    const running = this.#running.get(tenant);
    if (!running) return true;
    return new Promise((resolve) => {
      const proceed = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const giveUp = () => {
        running.waiting.delete(proceed);
        resolve(false);
      };
      const timer = secondsMax === undefined ? undefined : setTimeout(giveUp, secondsMax * 1000);
      running.waiting.add(proceed);
    });
  }
}
