import type { Encoder, EncoderOptions } from '@farthing/engine/encode/encoder';
import { frontsFor } from '../fronts/fronts.ts';
import { Grants } from '../fronts/grants.ts';
import type { FrontSettings } from '../fronts/messages.ts';
import { SharedCounts, sharedMemory } from '../fronts/shared-counts.ts';
import { UNSENT_BYTES_MAX } from '../http/exchange/server.ts';
import type { Settings } from '../settings/settings.ts';
import type { TenantLimits } from '../workspace/tenant-limits.ts';
import type { Limits } from './limits.ts';

/** What the owner of fronts has before they start. */
export interface FrontParts {
  readonly settings: Omit<FrontSettings, 'front'>;
  readonly counts: SharedCounts;
  readonly grants: Grants;
}

export interface FrontPartsOptions {
  readonly settings: Settings;
  readonly encoder: Encoder;
  readonly encoding: EncoderOptions;
  readonly limits: Limits;
  readonly tenantLimits: TenantLimits;
  /** This server is no part of a cluster, and has one set of books. */
  readonly isAlone: boolean;
  readonly log: (event: object) => void;
}

/** Undefined where one thread answers all. */
export function frontParts(options: FrontPartsOptions): FrontParts | undefined {
  const { settings, encoder, encoding, limits, tenantLimits, isAlone, log } = options;
  const { count, reason } = frontsFor(settings, { isAlone, encoder });
  if (reason !== undefined) log({ event: 'one_front', level: 'warn', reason });
  const { shared } = encoder;
  if (count === 1 || !shared) return undefined;
  const memory = sharedMemory(count);
  const counts = new SharedCounts(memory);
  const { requestsPerSecond, burst, searchesAtOnce } = limits.tenant;
  const served = new Set(encoder.spaces.map(({ name, modelSha256 }) => `${name} ${modelSha256}`));
  const isServed = (spaces: readonly { name: string; modelSha256: string }[]) =>
    spaces.length === served.size &&
    spaces.every(({ name, modelSha256 }) => served.has(`${name} ${modelSha256}`));
  const { queryWaitMsMax } = encoding;
  return {
    counts,
    grants: new Grants({
      counts,
      tenantLimits,
      requestsPerSecond,
      burst,
      searchesAtOnce,
      isServed,
      translates: shared.translatesInto !== undefined,
    }),
    settings: {
      memory,
      log: { LOG_LEVEL: settings.LOG_LEVEL },
      corsOrigins: settings.CORS_ORIGINS,
      models: shared,
      // As many as the processors take, and each front at least one: what waits for it is encoded together.
      queriesAtOnce: Math.max(1, Math.ceil((2 * encoder.workers.query) / count)),
      queryQueueMax: encoding.queryQueueMax,
      ...(queryWaitMsMax !== undefined && { queryWaitMsMax }),
      searchBodyBytesMax: limits.http.searchBodyBytesMax,
      unsentBytesMax: Math.floor(UNSENT_BYTES_MAX / count),
      tenantLimits: { requestsPerSecond, burst, searchesAtOnce },
    },
  };
}
