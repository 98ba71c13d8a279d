import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../domain/error.ts';
import type { IngestTenants } from './ports.ts';

const OVERLOAD_WAIT_MS = 1_000;

/** Repeats work while it is refused as overloaded: its job was admitted. @throws other errors of the work; the signal's reason */
export async function retryOverloaded<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== 'overloaded') throw error;
      // The signal ends the pause; the next round throws its reason.
      await pause(OVERLOAD_WAIT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The same Tenants, whose use waits while they are overloaded. Work in an index may be repeated. */
export function tenantsWithRetry(tenants: IngestTenants, signal: AbortSignal): IngestTenants {
  return {
    folder: (tenant) => tenants.folder(tenant),
    exists: (tenant) => tenants.exists(tenant),
    use: (tenant, options, work) => retryOverloaded(() => tenants.use(tenant, options, work), signal),
    useIfThere: (tenant, work) => retryOverloaded(() => tenants.useIfThere(tenant, work), signal),
  };
}
