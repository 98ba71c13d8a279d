import type { AnswerMcp } from '../../api/mcp.ts';
import { routesBySlot } from '../../cluster/forward/by-slot.ts';
import type { Forwarding } from '../../cluster/forward/forwarding.ts';
import { type PeerHandlers, peerRoutes } from '../../cluster/forward/peer-routes.ts';
import type { PeerSignatures } from '../../cluster/peers/peer-signature.ts';
import type { Services, ServicesBySlot } from '../access/services.ts';
import { guidance } from '../docs/agent-guide.ts';
import { describeApi } from '../docs/openapi.ts';
import type { Route } from '../exchange/route.ts';
import { consoleRoutes } from '../pages/console.ts';
import { entryRoutes } from './entry.ts';
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
import { payerPreviewRoute, workspacePreviewRoute } from './previews.ts';
import { searchRoute, workspaceSearchRoute } from './search.ts';
import { serviceRoutes } from './service.ts';
import { workspaceContentRoutes } from './workspace-contents.ts';
import {
  createWorkspaceRoute,
  disposeWorkspaceRoute,
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
  /** Where other servers have slots. */
  readonly peers?: {
    readonly forwarding: Forwarding;
    readonly signatures: PeerSignatures;
    /** What they may ask for beside what forwarding needs. */
    readonly handlers: PeerHandlers;
  };
}

/** Every route of the server. */
export function allRoutes(
  slots: ServicesBySlot,
  { notes, consoleFolder, mcp, peers }: RouteOptions,
): Route[] {
  const services = slots.front;
  const routes: Route[] = [
    ...routesBySlot(slots, tenantRoutes, peers?.forwarding),
    ...(consoleFolder === undefined ? [] : consoleRoutes(consoleFolder)),
    ...entryRoutes(services, { routes: () => routes, consoleFolder }),
    mcpRoute(mcp, services.limits, (workspace, token) => {
      const place = slots.of(workspace);
      if ('services' in place) return place.services.workspaces.tokenOpens(workspace, token);
      return token !== undefined && (peers?.forwarding.known.opens(workspace, token) ?? false);
    }),
    ...(peers
      ? peerRoutes(
          { ...peers.handlers, ...peers.forwarding.ofPeers.handlers },
          peers.signatures,
          services.onFault,
        )
      : []),
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
    workspaceIngestRoute(services),
    workspaceJobRoute(services),
    workspaceJobEventsRoute(services),
    cancelWorkspaceJobRoute(services),
    ...workspaceContentRoutes(services),
    itemTextRoute(services),
    workspacePreviewRoute(services),
    usageRoute(services),
    extendWorkspaceRoute(services),
    disposeWorkspaceRoute(services),
    receiptRoute(services),
  ];
}
