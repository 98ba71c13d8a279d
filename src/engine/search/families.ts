import {
  FAMILIES,
  type Family,
  LIST_NAMES,
  LISTS,
  type ListName,
  type QueryField,
} from '@farthing/protocol/family';
import type { Encoder, ServedSpace } from '../encode/encoder.ts';
import { reasonUnserved, type ServedLists, servedLists } from './lists.ts';

/** A family's availability, as `/readyz` and `openapi.json` show it. */
export interface FamilyReport {
  readonly family: Family;
  readonly available: boolean;
  /** Why the family, or one of its uses, is missing. */
  readonly reason?: string;
  readonly model?: string;
  readonly revision?: string;
  readonly provider?: string;
  readonly warmup_ms?: number;
  /** Accepts words; accepts a picture. */
  readonly words: boolean;
  readonly pictures: boolean;
}

/** Each family's availability with the models in use. */
export function familyReports(encoder: Pick<Encoder, 'spaces' | 'missing' | 'fusion'>): FamilyReport[] {
  const served = servedLists(encoder);
  return FAMILIES.map((family) => reportOf(family, served, encoder));
}

const USES: Readonly<Record<QueryField, string>> = { query: 'words', image: 'pictures' };

function reportOf(
  family: Family,
  served: ServedLists,
  encoder: Pick<Encoder, 'spaces' | 'missing' | 'fusion'>,
): FamilyReport {
  const lists = LIST_NAMES.filter((name) => LISTS[name].family === family);
  const answers = (field: QueryField) =>
    lists.some((name) => served.has(name) && LISTS[name].asksWith === field);
  const [words, pictures] = [answers('query'), answers('image')];
  const space = spaceOf(lists, served, encoder.spaces);
  const unserved = lists
    .filter((name) => !served.has(name))
    .map((name) => {
      const reason = reasonUnserved(name, encoder);
      return space ? `${USES[LISTS[name].asksWith]}: ${reason}` : reason;
    });
  const reasons = [...new Set([...unserved, ...(space?.notes ?? [])])];
  return {
    family,
    available: words || pictures,
    ...(reasons.length > 0 && { reason: reasons.join('; ') }),
    ...(space && modelOf(space)),
    words,
    pictures,
  };
}

/** The space that shows a family's model: of the first list that is served. */
function spaceOf(
  lists: readonly ListName[],
  served: ServedLists,
  spaces: readonly ServedSpace[],
): ServedSpace | undefined {
  const key = lists.map((name) => served.get(name)?.space).find((space) => space !== undefined);
  return spaces.find((space) => space.name === key);
}

function modelOf({ model, revision, provider, warmupMs }: ServedSpace): Partial<FamilyReport> {
  return {
    model,
    revision,
    provider,
    ...(warmupMs !== undefined && { warmup_ms: Math.round(warmupMs * 100) / 100 }),
  };
}
