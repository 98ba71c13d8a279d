import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import type { Services } from './services.ts';

/** Routes requests to the store that they belong to, in this process or at another server. */
export interface Forward {
  /** The routes of payers and workspaces. @param table makes those of one store */
  routes(table: (services: Services) => readonly Route[]): readonly Route[];
  /** The services of the only store, where there is but one. */
  readonly alone?: Services;
  /** Routes for other servers of the cluster. */
  readonly peerRoutes: readonly Route[];
  /** Whether another server sent a call. */
  isPeerCall(exchange: Pick<Exchange, 'head' | 'header'>): boolean;
  /** The services of the store that a Tenant's or a job's id belongs to; undefined if it is not here. */
  find(id: string): Services | undefined;
  /** Whether another server has accepted a workspace's token. */
  isAcceptedElsewhere(workspace: string, token: string): boolean;
  /** Ends event streams of other servers, whose clients connect again elsewhere: this server stops. */
  endStreams(): void;
  close(): Promise<void>;
}

/** A server alone answers everything. */
export function answeredHere(services: Services): Forward {
  return {
    alone: services,
    routes: (table) => table(services),
    peerRoutes: [],
    isPeerCall: () => false,
    find: () => services,
    isAcceptedElsewhere: () => false,
    endStreams: () => undefined,
    close: async () => undefined,
  };
}

/** Whether a token opens a workspace, as far as this server knows. */
export function tokenOpens(forward: Forward, workspace: string, token: string | undefined): boolean {
  const services = forward.find(workspace);
  if (services) return services.workspaces.tokenOpens(workspace, token);
  return token !== undefined && forward.isAcceptedElsewhere(workspace, token);
}
