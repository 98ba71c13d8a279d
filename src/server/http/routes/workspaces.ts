import { FarthingError } from '@farthing/protocol/error';
import { readLanguage } from '@farthing/protocol/labels/language';
import { parseUsd } from '@farthing/protocol/money';
import {
  type WorkspaceCreate,
  WorkspaceCreateSchema,
  type WorkspaceExtend,
  WorkspaceExtendSchema,
} from '@farthing/protocol/schema/requests';
import {
  DisposalSchema,
  ReserveEndedSchema,
  UsageSchema,
  WorkspaceSchema,
} from '@farthing/protocol/schema/workspaces';
import type { CreationInput } from '../../workspace/prices.ts';
import { idInResource, type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { readSmallObject, type SmallObject } from '../access/small-object.ts';
import { bearerToken, found, workspaceRoute } from '../access/workspace-access.ts';
import { ANSWERS, workspaceCreateDiscovery, workspaceExtendDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { Validator } from '../exchange/json.ts';
import type { Route } from '../exchange/route.ts';

const createValidator = new Validator(WorkspaceCreateSchema);
const extendValidator = new Validator(WorkspaceExtendSchema);
const ERRORS = [400, 413, 422, 429, 500, 503] as const;

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
      price: workspaces.prices.shownCreation(),
      requestBody: {
        schema: WorkspaceCreateSchema,
        required: false,
        example: workspaceCreateDiscovery.bodyExample,
      },
      success: {
        status: 201,
        description: 'The workspace and its one-time capability token.',
        schema: WorkspaceSchema,
        example: ANSWERS.workspace,
      },
      errors: ERRORS,
    },
    handle: async (exchange) => {
      const body = await readSmallObject(services, exchange);
      return paid(services, exchange, paidCreation(services, body));
    },
  };
}

function paidCreation({ workspaces, baseUrl, purchases }: Services, body: SmallObject): PaidRoute {
  const { amount, notice, minutes } = workspaces.prices.creation(
    creationOf(createValidator.lenient(body.object ?? {})),
  );
  return {
    kind: 'other',
    mode: 'effect',
    priceFixed: false,
    quote: () => ({
      amount,
      notice,
      resource: `${baseUrl()}/agent/v1/workspaces`,
      description: `A private workspace for ${minutes} minutes; its searches and uploads are included.`,
      discovery: workspaceCreateDiscovery,
    }),
    prepare: async (_, payer) => {
      if (body.failure) throw body.failure;
      const { value, warnings } = createValidator.validate(body.object ?? {});
      const input = { ...createdWith(value), payer };
      const { language } = input;
      const identity = { minutes, spend_limit_usd: value.spend_limit_usd, ...(language && { language }) };
      return {
        identity: { kind: 'json', value: identity },
        warnings,
        run: () => purchases.creation.buy(input),
      };
    },
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
      price: workspaces.prices.shownExtension(),
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
      return paid(services, exchange, paidExtension(services, exchange, params.id!, body));
    },
  };
}

function paidExtension(services: Services, exchange: Exchange, id: string, body: SmallObject): PaidRoute {
  const { workspaces, baseUrl, prepaid, prepaidUsdMax, purchases } = services;
  const { ttl_minutes, reserve: isReserve = false } = extendValidator.lenient(body.object ?? {});
  const { amount, minutes } = workspaces.prices.extension(ttl_minutes);
  const mayReserve = prepaidUsdMax > 0n;
  return {
    kind: 'other',
    mode: 'effect',
    priceFixed: false,
    quote: () => ({
      amount,
      resource: `${baseUrl()}/agent/v1/workspaces/${idInResource(id)}/extend`,
      description: `${minutes} more minutes for a workspace${isReserve ? ', in reserve' : ''}.`,
      discovery: workspaceExtendDiscovery,
      // Unused minutes must be refundable without another transaction.
      ...(isReserve && (mayReserve ? { paidIn: 'prepaid' } : { notice: 'prepaid_unavailable' })),
    }),
    prepare: async (_, payer) => {
      if (body.failure) throw body.failure;
      const { value, warnings } = extendValidator.validate(body.object ?? {});
      const { ttl_minutes: ttlMinutes, reserve = false } = value as WorkspaceExtend;
      if (reserve && !mayReserve)
        throw new FarthingError(
          'prepaid_unavailable',
          'Minutes in reserve are paid in prepaid money, and this server takes none. Extend without `reserve`. Nothing was charged.',
        );
      const reserveMoney = reserve ? prepaid.money : undefined;
      return {
        identity: { kind: 'json', value: { minutes, ...(reserve && { reserve }) } },
        warnings,
        run: async () => {
          const token = bearerToken(exchange);
          return purchases.extension.buy({ id, payer, ttlMinutes, reserveMoney, token });
        },
      };
    },
  };
}

/** GET /agent/v1/workspaces/{id}/usage */
export function usageRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/usage'],
    {
      operationId: 'workspaceUsage',
      summary: 'Time, money and contents of a workspace',
      success: { status: 200, description: 'Usage snapshot.', schema: UsageSchema },
      errors: [429, 500, 503],
    },
    async ({ id }) => found(await services.workspaces.views.usage(id)),
  );
}

/** DELETE /agent/v1/workspaces/{id}/reserve: unused money goes back to its payer. */
export function endReserveRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['DELETE', '/reserve'],
    {
      operationId: 'endReserve',
      summary: 'End the reserve of a workspace',
      success: { status: 200, description: 'What goes back.', schema: ReserveEndedSchema },
      errors: [422, 429, 500, 503],
    },
    async ({ id }) => found(await services.workspaces.endReserve(id)),
  );
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
      success: {
        status: 200,
        description: 'Signed disposal receipt; a repeated DELETE gets the same for 24 hours.',
        schema: DisposalSchema,
      },
      errors: [403, 500, 503],
    },
    handle: async (exchange, params) => {
      const token = bearerToken(exchange);
      exchange.key = services.house?.of(token)?.name;
      const disposal = await services.workspaces.dispose(params.id!, token);
      return { status: 200, headers: { 'Cache-Control': 'private' }, body: { ...disposal } };
    },
  };
}

/** GET /agent/v1/receipts/{id}: most workspaces expire, and get no DELETE that answers with a receipt. */
export function receiptRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/receipts/{id}',
    operation: {
      operationId: 'workspaceReceipt',
      summary: 'The receipt of an ended workspace',
      tag: 'Workspaces',
      security: 'token',
      success: {
        status: 200,
        description: 'Signed disposal receipt, for 24 hours after the end, however the workspace ended.',
        schema: DisposalSchema,
      },
      errors: [404, 500, 503],
    },
    handle: async (exchange, params) => {
      const token = bearerToken(exchange);
      exchange.key = services.house?.of(token)?.name;
      const disposal = await services.workspaces.receipt(params.id!, token);
      return { status: 200, headers: { 'Cache-Control': 'private' }, body: { ...disposal } };
    },
  };
}

/** @throws field_invalid for a language that is no code */
function createdWith(value: WorkspaceCreate): CreationInput {
  const { language } = value;
  return { ...creationOf(value), ...(language !== undefined && { language: readLanguage(language) }) };
}

function creationOf({ ttl_minutes, spend_limit_usd }: WorkspaceCreate): CreationInput {
  return {
    ttlMinutes: ttl_minutes,
    spendLimit: spend_limit_usd === undefined ? undefined : parseUsd(spend_limit_usd.toFixed(6)),
  };
}
