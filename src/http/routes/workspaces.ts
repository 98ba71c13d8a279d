import { type WorkspaceCreate, WorkspaceCreateSchema, WorkspaceExtendSchema } from '../../api/requests.ts';
import { DisposalSchema, UsageSchema, WorkspaceSchema } from '../../api/workspaces.ts';
import { storedId, type WorkspaceId } from '../../domain/id.ts';
import { type AtomicAmount, parseUsd } from '../../domain/money.ts';
import type { Answer, EffectHandler, Quote } from '../../domain/payment.ts';
import type { PublicWorkspace } from '../../workspace/views/public-record.ts';
import type { Workspaces } from '../../workspace/workspaces.ts';
import { workspaceCreateDiscovery, workspaceExtendDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { parseJsonObject, Validator } from '../exchange/json.ts';
import { idInResource, isUnpaid, paid } from '../exchange/paid.ts';
import type { Route } from '../exchange/reply.ts';
import type { Services } from '../services.ts';
import { bearerToken, withWorkspace } from '../workspace-access.ts';

const createValidator = new Validator(WorkspaceCreateSchema);
const extendValidator = new Validator(WorkspaceExtendSchema);
const ERRORS = [400, 413, 422, 429, 500, 503];

/** POST /agent/v1/workspaces: rents a workspace; its price follows from the clamped minutes. */
export function createWorkspaceRoute(services: Services): Route {
  const { workspaces } = services;
  return {
    method: 'POST',
    path: '/agent/v1/workspaces',
    operation: {
      operationId: 'createWorkspace',
      summary: 'Rent a workspace',
      tag: 'Workspaces',
      security: 'payment',
      price: { dynamic: 'base plus so much per minute', ...workspaces.prices.creationRange() },
      requestBody: {
        schema: WorkspaceCreateSchema,
        required: false,
        example: workspaceCreateDiscovery.bodyExample,
      },
      success: {
        status: 201,
        description: 'The workspace and its one-time capability token.',
        schema: WorkspaceSchema,
        example: workspaceCreateDiscovery.outputExample,
      },
      errors: ERRORS,
    },
    handle: async (exchange) => {
      const body = await readSmallObject(services, exchange);
      const asked = createValidator.lenient(body.object ?? {});
      const input = { ttlMinutes: asked.ttl_minutes, spendLimit: spendLimitOf(asked) };
      const price = workspaces.prices.creation(input);
      const quote: Quote = {
        amount: price.amount,
        notice: price.notice,
        resource: `${services.baseUrl()}/agent/v1/workspaces`,
        description: `A private workspace for ${price.minutes} minutes; its searches and uploads are included.`,
        discovery: workspaceCreateDiscovery,
      };
      return paid(services, exchange, { quote, priceFixed: false }, async () => {
        if (body.failure) throw body.failure;
        const { value, warnings } = createValidator.validate(body.object ?? {});
        const valid = { ttlMinutes: value.ttl_minutes, spendLimit: spendLimitOf(value) };
        return {
          identity: {
            kind: 'json',
            value: { minutes: price.minutes, spend_limit_usd: value.spend_limit_usd },
          },
          warnings,
          mode: 'effect',
          run: async () => {
            const { id } = await workspaces.create(valid);
            return { charged: true, effect: { kind: 'workspace_create', ref: { workspace: id } } };
          },
        };
      });
    },
  };
}

/** A created workspace: its minutes begin at commit, its token is shown once. */
export function workspaceCreateEffect(workspaces: Workspaces): EffectHandler {
  return {
    commit: async ({ workspace }) => {
      const id = storedId('workspace', workspace);
      return created(await workspaces.commitCreation(id), workspaces, id);
    },
    reissue: async ({ workspace }) => {
      const id = storedId('workspace', workspace);
      return created(await workspaces.reissue(id), workspaces, id);
    },
    undo: ({ workspace }) => workspaces.undoCreation(storedId('workspace', workspace)),
    pending: async () => workspaces.pendingCreations().map((workspace) => ({ workspace })),
  };
}

function created(
  result: { record: object; token?: string },
  workspaces: Workspaces,
  id: WorkspaceId,
): Answer {
  const token = result.token === undefined ? {} : { capability_token: result.token };
  return {
    status: 201,
    headers: workspaces.headers(id),
    body: { ...result.record, ...token, charged: true },
  };
}

/** POST /agent/v1/workspaces/{id}/extend: anyone may pay for more time. */
export function extendWorkspaceRoute(services: Services): Route {
  const { workspaces } = services;
  return {
    method: 'POST',
    path: '/agent/v1/workspaces/{id}/extend',
    operation: {
      operationId: 'extendWorkspace',
      summary: 'Buy more time for a workspace',
      tag: 'Workspaces',
      security: 'payment',
      price: { dynamic: 'so much per minute', ...workspaces.prices.extensionRange() },
      requestBody: {
        schema: WorkspaceExtendSchema,
        required: false,
        example: workspaceExtendDiscovery.bodyExample,
      },
      success: { status: 200, description: 'The extended workspace.', schema: WorkspaceSchema },
      errors: [401, ...ERRORS],
    },
    handle: async (exchange, params) => {
      const body = await readSmallObject(services, exchange);
      const price = workspaces.prices.extension(extendValidator.lenient(body.object ?? {}).ttl_minutes);
      const quote: Quote = {
        amount: price.amount,
        resource: `${services.baseUrl()}/agent/v1/workspaces/${idInResource(params.id!)}/extend`,
        description: `${price.minutes} more minutes for a workspace.`,
        discovery: workspaceExtendDiscovery,
      };
      return paid(services, exchange, { quote, priceFixed: false }, async () => {
        if (body.failure) throw body.failure;
        const { value, warnings } = extendValidator.validate(body.object ?? {});
        return {
          identity: { kind: 'json', value: { minutes: price.minutes } },
          warnings,
          mode: 'effect',
          run: async () => {
            const holder = workspaces.tokenOpens(params.id!, bearerToken(exchange));
            const { step } = await workspaces.extend(params.id!, {
              ttlMinutes: value.ttl_minutes,
              showFigures: holder,
            });
            return {
              charged: true,
              effect: { kind: 'workspace_extend', ref: { workspace: params.id!, step } },
            };
          },
        };
      });
    },
  };
}

/** A bought extension: added to what is left at commit. */
export function workspaceExtendEffect(workspaces: Workspaces): EffectHandler {
  const answer = (record: PublicWorkspace): Answer => ({
    status: 200,
    headers: workspaces.headers(record.id),
    body: { ...record, charged: true },
  });
  return {
    commit: async ({ step }) => answer(await workspaces.commitExtension(storedId('step', step))),
    reissue: async ({ step }) => answer(await workspaces.reissueExtension(storedId('step', step))),
    undo: ({ step }) => workspaces.undoExtension(storedId('step', step)),
    pending: async () => workspaces.pendingExtensions(),
  };
}

/** GET /agent/v1/workspaces/{id}/usage */
export function usageRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/workspaces/{id}/usage',
    operation: {
      operationId: 'workspaceUsage',
      summary: 'Time, money and contents of a workspace',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: 'Usage snapshot.', schema: UsageSchema },
      errors: [429, 500],
    },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, async ({ id }) => ({
        status: 200,
        headers: {},
        body: { ...(await services.workspaces.usage(id)) },
      })),
  };
}

/** DELETE /agent/v1/workspaces/{id}: destroys the data and answers with a signed receipt. */
export function disposeWorkspaceRoute(services: Services): Route {
  return {
    method: 'DELETE',
    path: '/agent/v1/workspaces/{id}',
    operation: {
      operationId: 'disposeWorkspace',
      summary: 'Destroy a workspace',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: 'Signed disposal receipt.', schema: DisposalSchema },
      errors: [500],
    },
    handle: async (exchange, params) => {
      const disposal = await services.workspaces.dispose(params.id!, bearerToken(exchange));
      return { status: 200, headers: { 'Cache-Control': 'private' }, body: { ...disposal } };
    },
  };
}

/** The small JSON body: read before the payment is looked at, because the quote depends on it. Its faults wait for a payment. */
async function readSmallObject(
  { limits }: Services,
  exchange: Exchange,
): Promise<{ object?: Record<string, unknown>; failure?: unknown }> {
  try {
    if (isUnpaid(exchange) && Number(exchange.header('content-length') ?? 0) > limits.jsonBodyBytesMax)
      return {};
    return { object: parseJsonObject((await exchange.body.whole(limits.jsonBodyBytesMax)).toString('utf8')) };
  } catch (failure) {
    return { failure };
  }
}

function spendLimitOf({ spend_limit_usd }: WorkspaceCreate): AtomicAmount | undefined {
  return spend_limit_usd === undefined ? undefined : parseUsd(spend_limit_usd.toFixed(6));
}
