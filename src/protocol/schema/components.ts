import type { TObject, TSchema } from '@sinclair/typebox';
import * as filter from './filter.ts';
import * as grep from './grep.ts';
import * as house from './house.ts';
import * as itemText from './item-text.ts';
import * as items from './items.ts';
import * as mcp from './mcp.ts';
import * as order from './order.ts';
import * as prepaid from './prepaid.ts';
import * as requests from './requests.ts';
import * as search from './search.ts';
import * as service from './service.ts';
import * as workspaces from './workspaces.ts';

const MODULES = [
  requests,
  filter,
  order,
  search,
  grep,
  items,
  prepaid,
  workspaces,
  house,
  itemText,
  service,
  mcp,
];

/** Every named schema of the description's `components`. */
export const COMPONENTS: readonly TObject[] = MODULES.flatMap((module) =>
  Object.values<unknown>(module),
).filter((value): value is TObject => typeof value === 'object' && value !== null && '$id' in value);

/** A schema's fields, each with its type alone: what a 402 has room for. */
export function fieldTypes({ properties }: TObject): Record<string, { readonly type: string }> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, { type: typeOf(field) }]),
  );
}

/** The first type of a field that may be null, or is one of several. */
function typeOf({ type, $ref, anyOf }: TSchema): string {
  if (typeof type === 'string') return type;
  const target = COMPONENTS.find(({ $id }) => $id === $ref);
  const other = target ?? (anyOf as readonly TSchema[] | undefined)?.find((choice) => choice.type !== 'null');
  return other ? typeOf(other) : 'object';
}
