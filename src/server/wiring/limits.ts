import { EXTRACT_LIMITS, type ExtractLimits } from '@farthing/protocol/document';
import type { HttpLimits } from '../http/access/services.ts';
import { INGEST_LIMITS, type IngestLimits } from '../ingest/ports/limits.ts';
import type { Settings } from '../settings/settings.ts';
import type { TenantLimitSettings } from '../workspace/tenant-limits.ts';

/** What the settings allow, by the part that enforces it. */
export interface Limits {
  readonly extract: ExtractLimits;
  readonly ingest: IngestLimits;
  readonly http: HttpLimits;
  readonly tenant: TenantLimitSettings;
}

/** Bytes of a small JSON body: the creation or extension of a workspace. */
const JSON_BODY_BYTES_MAX = 64 * 1024;
const BODIES_BYTES_MAX = 96 * 2 ** 20;
/** Uploads being received, in files of the largest size; smaller ones count by their bytes. */
const INCOMING_FILES_MAX = { unproved: 4, proved: 12, tenant: 8 };
/** Each job holds a whole document in memory. */
const INGEST_JOBS_MAX = 8;

/** @param ingestWorkers encoder threads for uploads */
export function limitsOf(settings: Settings, ingestWorkers: number): Limits {
  return {
    extract: {
      ...EXTRACT_LIMITS,
      bytesMax: settings.FILE_BYTES_MAX,
      pagesMax: settings.PAGES_MAX,
      pixelsMax: settings.PIXELS_MAX,
      mediaSecondsMax: settings.MEDIA_SECONDS_MAX,
      archiveMembersMax: settings.ARCHIVE_MEMBERS_MAX,
      archiveBytesMax: settings.ARCHIVE_BYTES_MAX,
    },
    ingest: {
      ...INGEST_LIMITS,
      // Small files spend about as long on disk and reader as in the encoder.
      jobsAtOnce: Math.min(INGEST_JOBS_MAX, INGEST_LIMITS.jobsAtOnce + 2 * ingestWorkers),
      segmentsPerItemMax: settings.SEGMENTS_PER_ITEM_MAX,
      membersPerUploadMax: settings.ARCHIVE_MEMBERS_MAX,
      memberBytesPerUploadMax: settings.ARCHIVE_BYTES_MAX,
    },
    http: {
      searchBodyBytesMax: settings.SEARCH_BODY_BYTES_MAX,
      jsonBodyBytesMax: JSON_BODY_BYTES_MAX,
      fileBytesMax: settings.FILE_BYTES_MAX,
      // At least one of the largest fits into either part.
      bodiesBytesMax: Math.max(BODIES_BYTES_MAX, 3 * settings.SEARCH_BODY_BYTES_MAX),
      bodyBytesPerSecondMin: settings.BODY_BYTES_PER_SECOND_MIN,
      incomingBytesMax: {
        unproved: INCOMING_FILES_MAX.unproved * settings.FILE_BYTES_MAX,
        proved: INCOMING_FILES_MAX.proved * settings.FILE_BYTES_MAX,
        tenant: INCOMING_FILES_MAX.tenant * settings.FILE_BYTES_MAX,
      },
      freeDiskBytesMin: settings.FREE_DISK_BYTES_MIN,
      waitSecondsMax: settings.PREFER_WAIT_SECONDS_MAX,
    },
    tenant: {
      requestsPerSecond: settings.TENANT_REQUESTS_PER_SECOND,
      burst: 2 * settings.TENANT_REQUESTS_PER_SECOND,
      searchesAtOnce: settings.TENANT_SEARCHES_AT_ONCE,
      ingestsAtOnce: settings.TENANT_INGESTS_AT_ONCE,
      streamsAtOnce: settings.TENANT_STREAMS_AT_ONCE,
    },
  };
}
