import type { AnswerMcp } from '@farthing/protocol/schema/mcp';
import { answeredHere, type Forward, tokenOpens } from '../access/forward.ts';
import type { Services } from '../access/services.ts';
import { guidance } from '../docs/agent-guide.ts';
import { describeApi } from '../docs/openapi.ts';
import type { Route } from '../exchange/route.ts';
import { consoleRoutes } from '../pages/console.ts';
import { captionsRoute } from './captions.ts';
import { channelRefundRoute } from './channels.ts';
import { entryRoutes } from './entry.ts';
import { exportRoute } from './export.ts';
import { grepRoute } from './grep.ts';
import { houseRoutes } from './house.ts';
import { ingestRoute, workspaceIngestRoute } from './ingest.ts';
import { itemTextRoute } from './item-text.ts';
import { itemRoute } from './items.ts';
import {
  cancelWorkspaceJobRoute,
  jobEventsRoute,
  jobRoute,
  workspaceJobEventsRoute,
  workspaceJobRoute,
} from './jobs.ts';
import { mcpRoute } from './mcp.ts';
import { balanceRoute, prepayRoute, refundRoute } from './prepaid.ts';
import { payerPreviewRoute, workspacePreviewRoute } from './previews.ts';
import { searchRoute, workspaceSearchRoute } from './search.ts';
import { serviceRoutes } from './service.ts';
import { workspaceContentRoutes } from './workspace-contents.ts';
import {
  createWorkspaceRoute,
  disposeWorkspaceRoute,
  endReserveRoute,
  extendWorkspaceRoute,
  receiptRoute,
  usageRoute,
} from './workspaces.ts';

export interface RouteOptions {
  /** Added to the description: what is unavailable now. */
  readonly notes: () => string;
  /** Folder of the built console; undefined: it is disabled. */
  readonly consoleFolder: string | undefined;
  readonly mcp: AnswerMcp;
  /** Routes requests to their store; absent: all belong to that of the services. */
  readonly forward?: Forward;
}

/** Every route of the server. */
export function allRoutes(
  services: Services,
  { notes, consoleFolder, mcp, forward = answeredHere(services) }: RouteOptions,
): Route[] {
  const routes: Route[] = [
    ...forward.routes(tenantRoutes),
    ...(consoleFolder === undefined ? [] : consoleRoutes(consoleFolder)),
    ...entryRoutes(services, { routes: () => routes, consoleFolder }),
    mcpRoute(mcp, services.limits, (workspace, token) =>
      tokenOpens(forward, workspace, token) ? services.gate.owners.of(workspace) : undefined,
    ),
    ...(services.house ? houseRoutes(services, services.house) : []),
    ...forward.peerRoutes,
    ...serviceRoutes(services, {
      notes,
      description: () =>
        describeApi(routes, {
          baseUrl: services.baseUrl(),
          notes: notes(),
          guidance: guidance(services),
          contact: services.terms.contact,
        }),
    }),
  ];
  return routes;
}

/** The routes of payers and workspaces. */
function tenantRoutes(services: Services): Route[] {
  return [
    searchRoute(services),
    ingestRoute(services),
    itemRoute(services),
    payerPreviewRoute(services),
    jobRoute(services),
    jobEventsRoute(services),
    createWorkspaceRoute(services),
    workspaceSearchRoute(services),
    grepRoute(services),
    workspaceIngestRoute(services),
    workspaceJobRoute(services),
    workspaceJobEventsRoute(services),
    cancelWorkspaceJobRoute(services),
    ...workspaceContentRoutes(services),
    exportRoute(services),
    itemTextRoute(services),
    captionsRoute(services),
    workspacePreviewRoute(services),
    usageRoute(services),
    extendWorkspaceRoute(services),
    endReserveRoute(services),
    disposeWorkspaceRoute(services),
    receiptRoute(services),
    ...(services.prepaidUsdMax > 0n ? [prepayRoute(services)] : []),
    balanceRoute(services),
    refundRoute(services),
    channelRefundRoute(services),
  ];
}
