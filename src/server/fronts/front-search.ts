import { IndexModels } from '@farthing/engine/encode/index-models';
import type { SharedEncoder } from '@farthing/engine/encode/shared-models';
import { RecallProbe } from '@farthing/engine/search/recall-probe';
import { Search } from '@farthing/engine/search/search';
import type { Shard } from '@farthing/engine/shard/shard';
import type { Tenants } from '@farthing/engine/shard/tenants';
import { FarthingError } from '@farthing/protocol/error';
import type { SearchServices } from '../http/access/workspace-access.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { SEARCHES_PER_PROBE } from '../wiring/limits.ts';
import { unauthorized } from '../workspace/records/token.ts';
import { refuseEarly, tooMany } from '../workspace/tenant-limits.ts';
import { expiryOf, workspaceHeaders } from '../workspace/views/public-record.ts';
import type { GrantedWorkspaces } from './granted.ts';
import type { FrontSettings } from './messages.ts';
import type { SharedCounts } from './shared-counts.ts';
import type { PendingUses } from './uses.ts';

export interface FrontSearchDeps {
  readonly settings: FrontSettings;
  readonly counts: SharedCounts;
  readonly granted: GrantedWorkspaces;
  readonly encoder: SharedEncoder['encoder'];
  readonly metrics: Metrics;
  readonly uses: PendingUses;
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** The services of the search route, for workspaces that the request has entered: its token is right, and its index stays open. */
export function frontSearch(deps: FrontSearchDeps): SearchServices {
  const { settings, counts, granted, uses, onFault } = deps;
  const { front, tenantLimits } = settings;
  const { requestsPerSecond, burst, searchesAtOnce } = tenantLimits;
  const clock = { now: () => counts.rentedMs(), toWall: (rented: number) => rented + counts.wallAheadMs() };
  const grantOf = (id: string) => {
    const found = granted.of(id);
    if (!found) throw unauthorized();
    return found.grant;
  };
  const owners = { of: (id: string) => grantOf(id).owner };
  /** Counts a request, unless it is too early. @returns microseconds that it is */
  const early = (id: string) => counts.request(grantOf(id).slot, 1e6 / requestsPerSecond, burst);
  const slotOf = (id: string) => {
    const { slot } = grantOf(id);
    if (!counts.beginSearch(slot, searchesAtOnce, front)) return undefined;
    let runs = true;
    return () => {
      if (runs) counts.endSearch(slot, front);
      runs = false;
    };
  };
  return {
    workspaces: {
      authenticate: (id) => grantOf(id).record,
      // It has entered before: see `answers` in front.ts.
      enter: () => () => undefined,
      openedLately: (id) => grantOf(id).record,
      stillOpens: () => true,
      views: {
        headers: (id) => workspaceHeaders(grantOf(id).record, clock),
        expiryOf: (record) => expiryOf(record, clock),
      },
      activity: { countSearch: (id, search) => uses.search(id, search) },
    },
    tenantLimits: {
      request: (id) => refuseEarly(early(id) / 1000, requestsPerSecond),
      ingest: () => {
        throw new FarthingError('internal', 'A front takes no uploads.');
      },
      search: (id) => {
        const leave = slotOf(id);
        if (!leave) throw tooMany('searches', searchesAtOnce);
        return leave;
      },
      searchNow: (id) => {
        const leave = slotOf(id);
        if (!leave || early(id) <= 0) return leave;
        leave();
        return undefined;
      },
    },
    gate: { owners },
    house: undefined,
    limits: { searchBodyBytesMax: settings.searchBodyBytesMax },
    search: searchOf(deps, owners),
    onFault,
  };
}

function searchOf(
  { granted, encoder, metrics, uses }: FrontSearchDeps,
  owners: { of(tenant: string): string },
): Search {
  const tenants = {
    useNow: (id: string) => granted.of(id)?.shard,
    useIfThere: <T>(id: string, work: (shard: Shard) => Promise<T> | T) => granted.use(id, work),
    use: async <T>(id: string, _options: object, work: (shard: Shard) => Promise<T> | T) => {
      const used = await granted.use(id, work);
      if (used === undefined) throw new FarthingError('not_found', 'Nothing is stored here.');
      return used;
    },
  } as unknown as Tenants;
  const probe = new RecallProbe({
    tenants,
    every: SEARCHES_PER_PROBE,
    observe: (event) => uses.probe(event),
  });
  const encoders = new IndexModels({
    current: encoder,
    open: async () => undefined,
    log: (event) => uses.event(event),
  });
  return new Search({
    tenants,
    encoders,
    // Pictures are the owner's.
    extractor: { decodePicture: noPictures, checkPicture: noPictures },
    owners,
    observe: metrics.searched,
    probe,
  });
}

async function noPictures(): Promise<never> {
  throw new FarthingError('internal', 'A front decodes no pictures.');
}
