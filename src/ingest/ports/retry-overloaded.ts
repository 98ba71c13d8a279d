import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../domain/error.ts';
import type { IngestTenants } from './ports.ts';

const OVERLOAD_WAIT_MS = 1_000;

/** Does it again and again while it is refused for want of room: the job was admitted. @throws the signal's reason. */
export async function retryOverloaded<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== 'overloaded') throw error;
      // Given up at once when the signal comes; the next turn throws its reason.
      await pause(OVERLOAD_WAIT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Indexes that are waited for while too many are in use, or too much is being written; what is done in them may begin again. */
export function tenantsWithRetry(tenants: IngestTenants, signal: AbortSignal): IngestTenants {
  return {
    folder: (tenant) => tenants.folder(tenant),
    exists: (tenant) => tenants.exists(tenant),
    use: (tenant, options, work) => retryOverloaded(() => tenants.use(tenant, options, work), signal),
    useIfThere: (tenant, work) => retryOverloaded(() => tenants.useIfThere(tenant, work), signal),
  };
}
