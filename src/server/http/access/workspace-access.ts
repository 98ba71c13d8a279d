import type { Answer } from '@farthing/payment/purchase';
import { FarthingError } from '@farthing/protocol/error';
import type { Right } from '@farthing/protocol/house';
import type { TenantId } from '@farthing/protocol/id';
import type { TenantLimits } from '../../workspace/tenant-limits.ts';
import type { WorkspaceRecord } from '../../workspace/workspace.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isFault, problem } from '../exchange/problem.ts';
import type { BytesReply, ContentReply, EventsReply, Reply } from '../exchange/reply.ts';
import type { Operation, Route } from '../exchange/route.ts';
import type { Services } from './services.ts';

/** The part of the services that every route of a workspace uses. */
export interface WorkspaceServices extends Pick<Services, 'house' | 'onFault'> {
  readonly workspaces: Pick<Services['workspaces'], 'authenticate' | 'enter'> & {
    readonly views: Pick<Services['workspaces']['views'], 'headers'>;
  };
  readonly tenantLimits: Pick<TenantLimits, 'request' | 'search' | 'ingest'>;
  readonly gate: { readonly owners: Pick<Services['gate']['owners'], 'of'> };
}

/** The part of the services that the search of a workspace uses. */
export interface SearchServices extends WorkspaceServices, Pick<Services, 'search'> {
  readonly limits: Pick<Services['limits'], 'searchBodyBytesMax'>;
  readonly tenantLimits: WorkspaceServices['tenantLimits'] & Pick<TenantLimits, 'searchNow'>;
  readonly workspaces: WorkspaceServices['workspaces'] & {
    readonly openedLately: Services['workspaces']['openedLately'];
    readonly stillOpens: Services['workspaces']['stillOpens'];
    readonly views: Pick<Services['workspaces']['views'], 'expiryOf'>;
    readonly activity: Pick<Services['workspaces']['activity'], 'countSearch'>;
  };
}

export type WorkKind = 'search' | 'ingest' | 'other';

/** Counts a request against its tenant's limits. @returns a function that releases its slot. @throws rate_limited */
export function admitTenant(
  limits: WorkspaceServices['tenantLimits'],
  tenant: TenantId,
  kind: WorkKind,
): () => void {
  limits.request(tenant);
  return kind === 'other' ? () => undefined : limits[kind](tenant);
}

/** The bearer token of a request; undefined when there is none or its header is malformed. */
export function bearerToken(exchange: Pick<Exchange, 'header'>): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,256})$/i.exec(exchange.header('authorization') ?? '')?.[1];
}

type OwnReply = Answer | BytesReply | ContentReply | EventsReply;

/**
 * A route for the holder of a workspace's token, or of a key of the house.
 * @param path below the workspace's own
 * @param right that a key needs
 */
export function workspaceRoute(
  services: WorkspaceServices,
  [method, path]: readonly [method: Route['method'], path: string],
  operation: Omit<Operation, 'tag' | 'security'>,
  work: (
    workspace: WorkspaceRecord,
    exchange: Exchange,
    params: Readonly<Record<string, string>>,
  ) => Promise<OwnReply>,
  kind: WorkKind = 'other',
  right: Right = method === 'GET' ? 'read' : 'write',
): Route {
  const errors = right === 'read' ? operation.errors : [...operation.errors, 403 as const];
  return {
    method,
    path: `/agent/v1/workspaces/{id}${path}`,
    operation: { ...operation, errors, tag: 'Workspaces', security: 'token' },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, { kind, right }, (workspace) =>
        work(workspace, exchange, params),
      ),
  };
}

/** The usual answer. */
export const found = (body: object): Answer => ({ status: 200, headers: {}, body: { ...body } });

/**
 * Runs `work` for the holder of the workspace's token or a key. A request that has arrived before the end finishes. Refusals after
 * authentication carry the workspace's headers too.
 * @throws workspace_unauthorized; right_missing, rate_limited for a key
 */
async function withWorkspace(
  { workspaces, tenantLimits, gate, house, onFault }: WorkspaceServices,
  exchange: Exchange,
  id: string,
  { kind, right }: { readonly kind: WorkKind; readonly right: Right },
  work: (workspace: WorkspaceRecord) => Promise<OwnReply>,
): Promise<Reply> {
  const token = bearerToken(exchange);
  exchange.key = house?.of(token)?.name;
  const workspace = workspaces.authenticate(id, token, right);
  exchange.body.proved(gate.owners.of(workspace.id));
  const leave = workspaces.enter(workspace.id, () => {
    if (!exchange.body.complete) exchange.body.fail(ended());
  });
  let leavesLater = false;
  try {
    const limited = async () => {
      const giveBack = admitTenant(tenantLimits, workspace.id, kind);
      try {
        return await work(workspace);
      } finally {
        giveBack();
      }
    };
    const answer = await limited().catch((error: unknown) => {
      if (isFault(error, exchange.signal)) onFault(error, exchange.requestId);
      return problem(error, exchange.requestId);
    });
    const headers = {
      'Cache-Control': 'private',
      ...answer.headers,
      ...workspaces.views.headers(workspace.id),
    };
    if ('events' in answer) {
      leavesLater = true;
      return { ...answer, headers, close: leaving(answer, leave) };
    }
    if (!('content' in answer)) return { ...answer, headers };
    leavesLater = true;
    return { ...answer, headers, content: { ...answer.content, close: closing(answer, leave) } };
  } finally {
    if (!leavesLater) leave();
  }
}

function ended(): FarthingError {
  return new FarthingError('workspace_unauthorized', 'The workspace ended before the request had arrived.');
}

function leaving({ close }: EventsReply, leave: () => void): () => void {
  return () => {
    close();
    leave();
  };
}

/** A request for stored bytes ends when the last of them is sent. */
function closing({ content }: ContentReply, leave: () => void): () => Promise<void> {
  return async () => {
    try {
      await content.close();
    } finally {
      leave();
    }
  };
}
