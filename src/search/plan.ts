import { FarthingError } from '../domain/error.ts';
import { FAMILIES, type Family } from '../domain/family.ts';
import { type FusionSettings, LISTS, type ListName } from '../domain/fusion.ts';
import type { SearchInput } from '../domain/search.ts';

/** What a list is asked with, and the family that it belongs to. */
export const LIST_TRAITS: Readonly<
  Record<ListName, { readonly family: Family; readonly asksWith: 'query' | 'image' }>
> = {
  text_semantic: { family: 'text_semantic', asksWith: 'query' },
  raw_words: { family: 'raw', asksWith: 'query' },
  visual_words: { family: 'visual', asksWith: 'query' },
  visual_picture: { family: 'visual', asksWith: 'image' },
  raw_picture: { family: 'raw', asksWith: 'image' },
};

/** Why a family cannot be searched at all, where it cannot. */
export interface FamilyStatus {
  readonly family: Family;
  readonly available: boolean;
  readonly reason?: string;
}

/**
 * The lists that answer a search: those of the asked families that apply to what was sent and whose models are there.
 * @throws family_unavailable when only a missing model stands in the way, family_not_applicable when nothing applies
 */
export function planLists(
  input: SearchInput,
  fusion: FusionSettings,
  statuses: readonly FamilyStatus[],
): ListName[] {
  const families = input.families ?? FAMILIES;
  const applicable = LISTS.filter((list) => {
    const { family, asksWith } = LIST_TRAITS[list];
    return families.includes(family) && input[asksWith] !== undefined;
  });
  if (families.length === 0 || applicable.length === 0) {
    const sent = input.query === undefined ? 'a picture' : 'words';
    throw new FarthingError(
      'family_not_applicable',
      `families: name one that can be searched with ${sent}, or leave it out.`,
      {
        facts: { field: 'families' },
      },
    );
  }
  const ready = applicable.filter((list) => fusion.lists[list] !== undefined);
  if (ready.length === 0) {
    const family = LIST_TRAITS[applicable[0]!].family;
    const reason =
      statuses.find((status) => status.family === family)?.reason ?? 'its model is not installed';
    throw new FarthingError('family_unavailable', `families: ${family} cannot be searched here: ${reason}.`, {
      facts: { field: 'families', family },
    });
  }
  return ready;
}
