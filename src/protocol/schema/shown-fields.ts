import type { TSchema } from '@sinclair/typebox';
import { COMPONENTS } from './components.ts';
import type { ShownField } from './facts.ts';
import { shownOf } from './fields.ts';
import { GrepLineSchema } from './grep.ts';
import { ItemSchema } from './items.ts';
import { HitSchema, LocatorSchema } from './search.ts';
import { ReceiptClaimsSchema, UsageSchema } from './workspaces.ts';

/** How the fields of each record are shown, as data: the builds of the console and the programs have it without the library of the schemas. */
export const SHOWN_FIELDS = {
  hit: fieldsOf(HitSchema),
  line: fieldsOf(GrepLineSchema),
  item: fieldsOf(ItemSchema),
  locator: fieldsOf(LocatorSchema),
  usage: fieldsOf(UsageSchema),
  receipt: fieldsOf(ReceiptClaimsSchema),
};

function fieldsOf({ properties }: TSchema): readonly ShownField[] {
  return Object.entries(properties as Record<string, TSchema>).flatMap(([name, schema]) => {
    const shown = shownOf(schema);
    if (!shown) return [];
    const reference = schema.$ref ?? schema.items?.$ref;
    const target = COMPONENTS.find(({ $id }) => $id === reference);
    const inner = target ? fieldsOf(target) : [];
    return [{ name, ...shown, ...(inner.length > 0 && { fields: inner }) }];
  });
}
