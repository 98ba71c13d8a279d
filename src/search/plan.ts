import { FarthingError } from '../domain/error.ts';
import { FAMILIES, LIST_NAMES, LISTS } from '../domain/family.ts';
import type { SearchInput } from '../domain/search.ts';
import type { QueryEncoder } from '../encode/model-versions.ts';
import { reasonUnserved, type ServedList, servedLists } from './lists.ts';

/**
 * The lists that answer a search: those of the requested families that apply to the query and whose models are installed.
 * @throws family_unavailable when only a missing model stands in the way, family_not_applicable when nothing applies
 */
export function planLists(
  input: SearchInput,
  encoder: Pick<QueryEncoder, 'spaces' | 'missing' | 'fusion'>,
): ServedList[] {
  const families = input.families ?? FAMILIES;
  const applicable = LIST_NAMES.filter((name) => {
    const { family, asksWith } = LISTS[name];
    return families.includes(family) && input[asksWith] !== undefined;
  });
  const [first] = applicable;
  if (first === undefined) {
    const sent = input.query === undefined ? 'a picture' : 'words';
    throw new FarthingError(
      'family_not_applicable',
      `families: name one that can be searched with ${sent}, or leave it out.`,
      { facts: { field: 'families' } },
    );
  }
  const served = servedLists(encoder);
  const ready = applicable.flatMap((name) => served.get(name) ?? []);
  if (ready.length === 0) {
    const { family } = LISTS[first];
    throw new FarthingError(
      'family_unavailable',
      `families: ${family} cannot be searched here: ${reasonUnserved(first, encoder)}.`,
      { facts: { field: 'families', family } },
    );
  }
  return ready;
}
