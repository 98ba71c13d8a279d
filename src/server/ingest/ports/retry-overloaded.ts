import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '@farthing/protocol/error';
import type { IngestTenants } from './ports.ts';

const OVERLOAD_WAIT_MS = 1_000;

/** Repeats work while it is refused as overloaded, or the object store is away: its job was admitted. @throws other errors of the work; the signal's reason */
export async function retryOverloaded<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'overloaded' && code !== 'objects_unavailable') throw error;
      // The signal ends the pause; the next round throws its reason.
      await pause(OVERLOAD_WAIT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The same Tenants; calls wait while these are overloaded. The work may run more than once. */
export function tenantsWithRetry(tenants: IngestTenants, signal: AbortSignal): IngestTenants {
  return {
    folder: (tenant) => tenants.folder(tenant),
    exists: (tenant) => tenants.exists(tenant),
    use: (tenant, options, work) => retryOverloaded(() => tenants.use(tenant, options, work), signal),
    useIfThere: (tenant, work) => retryOverloaded(() => tenants.useIfThere(tenant, work), signal),
  };
}
