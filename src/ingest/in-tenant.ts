import { errorCode } from '../domain/error.ts';
import type { IngestShard, IngestTenants } from './parts.ts';

/** Undefined where the Tenant has no index (any more). */
export async function inTenant<T, Shard = IngestShard>(
  tenants: Pick<IngestTenants<Shard>, 'use'>,
  tenant: string,
  work: (shard: Shard) => Promise<T> | T,
): Promise<T | undefined> {
  try {
    return await tenants.use(tenant, {}, work);
  } catch (error) {
    if (errorCode(error) === 'not_found') return undefined;
    throw error;
  }
}
