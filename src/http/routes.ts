import { describeApi } from './openapi.ts';
import type { Route } from './route.ts';
import { ingestRoute, workspaceIngestRoute } from './routes/ingest.ts';
import { itemRoute } from './routes/items.ts';
import { cancelWorkspaceJobRoute, jobRoute, workspaceJobRoute } from './routes/jobs.ts';
import { type McpAnswer, mcpRoute } from './routes/mcp.ts';
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

/** Every route of the server. `notes` is added to the description: what is not available right now. */
export function allRoutes(services: Services, notes: () => string, mcp: McpAnswer): Route[] {
  const routes: Route[] = [
    searchRoute(services),
    ingestRoute(services),
    itemRoute(services),
    jobRoute(services),
    createWorkspaceRoute(services),
    workspaceSearchRoute(services),
    workspaceIngestRoute(services),
    workspaceJobRoute(services),
    cancelWorkspaceJobRoute(services),
    ...workspaceContentRoutes(services),
    usageRoute(services),
    extendWorkspaceRoute(services),
    disposeWorkspaceRoute(services),
    mcpRoute(mcp, services.limits.searchBodyBytesMax),
    ...serviceRoutes(services, () => describeApi(routes, services.baseUrl(), notes())),
  ];
  return routes;
}
