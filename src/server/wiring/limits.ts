import { EXTRACT_LIMITS, type ExtractLimits } from '@farthing/protocol/document';
import type { HttpLimits } from '../http/access/services.ts';
import { INGEST_LIMITS, type IngestLimits } from '../ingest/ports/limits.ts';
import { groupOf, type Settings } from '../settings/settings.ts';
import type { TenantLimitSettings } from '../workspace/tenant-limits.ts';

/** Limits, by the part that enforces them. */
export interface Limits {
  readonly extract: ExtractLimits;
  readonly ingest: IngestLimits;
  readonly http: HttpLimits;
  readonly tenant: TenantLimitSettings;
}

/** Limits that tests and benches change. */
export type TenantLimitChanges = Partial<
  Pick<TenantLimitSettings, `${'searches' | 'ingests' | 'streams'}AtOnce`>
>;

/** Bytes of a small JSON body: the creation or extension of a workspace. */
const JSON_BODY_BYTES_MAX = 64 * 1024;
/** A photograph of 12 MB as base64; a larger one is scaled by its sender. */
const SEARCH_BODY_BYTES_MAX = 16 * 2 ** 20;
/** Six of the largest: at least one fits into either part. */
const BODIES_BYTES_MAX = 96 * 2 ** 20;
/** 131 kbit a second: agents have faster connections, and a slower body occupies memory for an attacker. */
const BODY_BYTES_PER_SECOND_MIN = 16_384;
/** Searches of one Tenant that run at once: an eighth of a second each, at its rate of requests, and not below this. */
const SEARCHES_AT_ONCE_MIN = 64;
const SEARCH_SECONDS = 1 / 8;
/** Twice the jobs that run at once: the next upload is received while one is read. */
const INGESTS_AT_ONCE = 16;
/** Each holds a connection and an open file. */
const STREAMS_AT_ONCE = 64;
/** Uploads being received, in files of the largest size; smaller ones count by their bytes. */
const INCOMING_FILES_MAX = { unproved: 4, proved: 12, tenant: 8 };
/** Each job holds a whole document in memory. */
const INGEST_JOBS_MAX = 8;

/** A proof takes as long as dozens of searches: this costs some percent of the processor, and shows a loss within minutes of traffic. */
export const SEARCHES_PER_PROBE = 200;

/** @param ingestWorkers encoder threads for uploads */
export function limitsOf(
  settings: Settings,
  ingestWorkers: number,
  changes: TenantLimitChanges = {},
): Limits {
  const http = groupOf(settings, 'http');
  const tenant = groupOf(settings, 'tenant');
  return {
    extract: { ...EXTRACT_LIMITS, ...groupOf(settings, 'extract') },
    ingest: {
      ...INGEST_LIMITS,
      // Small files spend about as long on disk and reader as in the encoder.
      jobsAtOnce: Math.min(INGEST_JOBS_MAX, INGEST_LIMITS.jobsAtOnce + 2 * ingestWorkers),
    },
    http: {
      ...http,
      searchBodyBytesMax: SEARCH_BODY_BYTES_MAX,
      jsonBodyBytesMax: JSON_BODY_BYTES_MAX,
      bodiesBytesMax: BODIES_BYTES_MAX,
      bodyBytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN,
      incomingBytesMax: {
        unproved: INCOMING_FILES_MAX.unproved * http.fileBytesMax,
        proved: INCOMING_FILES_MAX.proved * http.fileBytesMax,
        tenant: INCOMING_FILES_MAX.tenant * http.fileBytesMax,
      },
    },
    tenant: {
      ...tenant,
      burst: 2 * tenant.requestsPerSecond,
      searchesAtOnce: Math.max(SEARCHES_AT_ONCE_MIN, Math.ceil(tenant.requestsPerSecond * SEARCH_SECONDS)),
      ingestsAtOnce: INGESTS_AT_ONCE,
      streamsAtOnce: STREAMS_AT_ONCE,
      ...changes,
    },
  };
}
