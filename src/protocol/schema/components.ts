import type { TObject } from '@sinclair/typebox';
import * as filter from './filter.ts';
import * as itemText from './item-text.ts';
import * as items from './items.ts';
import * as mcp from './mcp.ts';
import * as order from './order.ts';
import * as prepaid from './prepaid.ts';
import * as requests from './requests.ts';
import * as search from './search.ts';
import * as service from './service.ts';
import * as workspaces from './workspaces.ts';

const MODULES = [requests, filter, order, search, items, prepaid, workspaces, itemText, service, mcp];

/** Every named schema of the description's `components`. */
export const COMPONENTS: readonly TObject[] = MODULES.flatMap((module) =>
  Object.values<unknown>(module),
).filter((value): value is TObject => typeof value === 'object' && value !== null && '$id' in value);

/** A schema's properties as plain JSON Schema with references resolved, because catalogues do not follow them. */
export function inlineProperties(schema: TObject): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema.properties, inline)) as Record<string, unknown>;
}

function inline(key: string, value: unknown): unknown {
  if (key === '$id') return undefined;
  const reference = (value as { $ref?: unknown } | null)?.$ref;
  const target = COMPONENTS.find(({ $id }) => $id === reference);
  if (reference === undefined || !target) return value;
  // Catalogue entries travel in a header: what is long is shortened to an object.
  const isLong = [filter.FilterSchema, order.OrderSchema, requests.QuestionSchema].includes(target as never);
  const isShortened = String(reference).endsWith('Explanation') || isLong;
  return isShortened ? { type: 'object', description: target.description } : { ...target };
}
