import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import { readLanguage } from '@farthing/protocol/labels/language';
import {
  type HouseWorkspaceCreate,
  HouseWorkspaceCreateSchema,
  type HouseWorkspaceListAnswer,
  HouseWorkspaceListSchema,
  HouseWorkspaceSchema,
} from '@farthing/protocol/schema/house';
import { Type } from '@sinclair/typebox';
import {
  HOUSE,
  type HouseKeys,
  type KeyTerms,
  keyUnauthorized,
  mustMay,
  opens,
} from '../../workspace/house/house-keys.ts';
import type { Services } from '../access/services.ts';
import { bearerToken, found } from '../access/workspace-access.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { named, parseJsonObject, Validator } from '../exchange/json.ts';
import { QueryNumber } from '../exchange/query-number.ts';
import type { Route } from '../exchange/route.ts';

const PATH = '/house/v1/workspaces';
const PAGE_DEFAULT = 50;
const LIMIT = new QueryNumber('limit', `Entries of a page. Default: ${PAGE_DEFAULT}.`, { min: 1, max: 200 });
const REPEATED = /^[\x21-\x7e]{16,128}$/;
const validator = new Validator(HouseWorkspaceCreateSchema);

/** What the operator's own agents have beside the routes of a workspace, which their keys open like tokens. */
export function houseRoutes(services: Services, keys: HouseKeys): Route[] {
  return [createRoute(services, keys), listRoute(services, keys)];
}

/** POST /house/v1/workspaces */
function createRoute({ workspaces, limits }: Services, keys: HouseKeys): Route {
  return {
    method: 'POST',
    path: PATH,
    operation: {
      operationId: 'createHouseWorkspace',
      summary: 'Make a workspace that stays',
      tag: 'House',
      security: 'key',
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'The same from the same key again: the same workspace, as it is by then.',
          schema: Type.String({ minLength: 16, maxLength: 128 }),
        },
      ],
      requestBody: { schema: HouseWorkspaceCreateSchema, required: false, example: { name: 'notes' } },
      success: { status: 201, description: 'The workspace.', schema: HouseWorkspaceSchema },
      errors: [403, 413],
    },
    handle: async (exchange) => {
      const key = admitted(keys, exchange);
      mustMay(key, 'admin');
      if (key.workspaces)
        throw new FarthingError(
          'right_missing',
          `The key ${key.name} opens certain workspaces alone, and a new one is none of them.`,
          { facts: { may: key.may, needed: 'admin' } },
        );
      const repeated = exchange.header('idempotency-key');
      if (repeated !== undefined && !REPEATED.test(repeated))
        throw new FarthingError('idempotency_key_invalid', 'Idempotency-Key: send 16 to 128 characters.');
      exchange.body.proved(HOUSE);
      const text = (await exchange.body.whole(limits.jsonBodyBytesMax)).toString('utf8');
      const { value, warnings } = validator.validate(parseJsonObject(text));
      const { name, language } = value as HouseWorkspaceCreate;
      const record = await workspaces.createForHouse(
        {
          ...(name !== undefined && { name }),
          ...(language !== undefined && { language: readLanguage(language) }),
        },
        repeated && `${key.name} ${repeated}`,
      );
      return { ...found({ ...workspaces.views.ofHouse(record), ...named(warnings) }), status: 201 };
    },
  };
}

/** GET /house/v1/workspaces: in order of their ids. */
function listRoute({ workspaces }: Services, keys: HouseKeys): Route {
  return {
    method: 'GET',
    path: PATH,
    operation: {
      operationId: 'houseWorkspaces',
      summary: 'Workspaces of the house',
      tag: 'House',
      security: 'key',
      parameters: [
        LIMIT.parameter,
        { name: 'after', in: 'query', description: 'The former page’s `next`.', schema: Type.String() },
      ],
      success: { status: 200, description: 'Those that the key opens.', schema: HouseWorkspaceListSchema },
      errors: [],
    },
    handle: (exchange) => {
      const key = admitted(keys, exchange);
      const limit = LIMIT.of(exchange) ?? PAGE_DEFAULT;
      const text = new URLSearchParams(exchange.head.query).get('after');
      const after = text === null ? undefined : parseId('workspace', text);
      if (text !== null && !after)
        throw new FarthingError('field_invalid', 'after: send the `next` of the former page.', {
          facts: { field: 'after' },
        });
      const page = [];
      for (const record of workspaces.ofHouse(after)) {
        if (opens(key, record.id)) page.push(workspaces.views.ofHouse(record));
        if (page.length > limit) break;
      }
      const shown = page.slice(0, limit);
      const next = page.length > limit ? shown.at(-1)!.id : null;
      return found({ workspaces: shown, next } satisfies HouseWorkspaceListAnswer);
    },
  };
}

/** @throws key_unauthorized, rate_limited */
function admitted(keys: HouseKeys, exchange: Exchange): KeyTerms {
  const key = keys.of(bearerToken(exchange));
  if (!key) throw keyUnauthorized();
  exchange.key = key.name;
  keys.admit(key);
  return key;
}
