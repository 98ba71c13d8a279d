import { consoleRoutes } from './console.ts';
import { describeApi } from './openapi.ts';
import type { Route } from './route.ts';
import { ingestRoute, workspaceIngestRoute } from './routes/ingest.ts';
import { itemRoute } from './routes/items.ts';
import {
  cancelWorkspaceJobRoute,
  jobEventsRoute,
  jobRoute,
  workspaceJobEventsRoute,
  workspaceJobRoute,
} from './routes/jobs.ts';
import { type McpAnswer, mcpRoute } from './routes/mcp.ts';
import { payerPreviewRoute, workspacePreviewRoute } from './routes/previews.ts';
import { searchRoute, workspaceSearchRoute } from './routes/search.ts';
import { serviceRoutes } from './routes/service.ts';
import { workspaceContentRoutes } from './routes/workspace-contents.ts';
import {
  createWorkspaceRoute,
  disposeWorkspaceRoute,
  extendWorkspaceRoute,
  usageRoute,
} from './routes/workspaces.ts';
import type { Services } from './services.ts';

export interface RouteOptions {
  /** Added to the description: what is not available right now. */
  readonly notes: () => string;
  /** Where the built console lies; undefined: it is turned off. */
  readonly consoleFolder: string | undefined;
  readonly mcp: McpAnswer;
}

/** Every route of the server. */
export function allRoutes(services: Services, { notes, consoleFolder, mcp }: RouteOptions): Route[] {
  const routes: Route[] = [
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
    workspacePreviewRoute(services),
    usageRoute(services),
    extendWorkspaceRoute(services),
    disposeWorkspaceRoute(services),
    ...(consoleFolder === undefined ? [] : consoleRoutes(consoleFolder)),
    mcpRoute(mcp, services.limits.searchBodyBytesMax),
    ...serviceRoutes(services, () => describeApi(routes, services.baseUrl(), notes())),
  ];
  return routes;
}
