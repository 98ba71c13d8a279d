import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, LIST_NAMES, LISTS } from '@farthing/protocol/family';
import type { SearchInput } from '@farthing/protocol/search';
import type { ServedSpace } from '../encode/encoder.ts';
import type { QueryEncoder } from '../encode/index-models.ts';
import { reasonUnserved, type ServedList, servedLists } from './lists.ts';

type PlanEncoder = Pick<QueryEncoder, 'spaces' | 'missing' | 'fusion'>;
type Fusion = QueryEncoder['fusion'];

/** The lists that answer a search, and how they count. */
export interface SearchPlan {
  readonly lists: readonly ServedList[];
  readonly native: InstanceType<typeof native.SearchPlan>;
}

interface KeptPlan extends SearchPlan {
  readonly fusion: Fusion;
}

/** Plans by the spaces of the models in use, and by the kind of query. */
const kept = new WeakMap<readonly ServedSpace[], Map<string, KeptPlan>>();

/** The plan of a search, made once for each combination of models, families and inputs. @throws as `planLists` */
export function planSearch(input: SearchInput, encoder: PlanEncoder): SearchPlan {
  const { spaces, fusion } = encoder;
  const { families = FAMILIES, query, image } = input;
  const choices = [
    ...FAMILIES.map((family) => families.includes(family)),
    query !== undefined,
    image !== undefined,
  ];
  const key = choices.map(Number).join('');
  const plans = kept.get(spaces) ?? new Map<string, KeptPlan>();
  const known = plans.get(key);
  if (known?.fusion === fusion) return known;
  const lists = planLists(input, encoder);
  const plan = { lists, native: nativePlan(lists, fusion.unknown_language_share), fusion };
  kept.set(spaces, plans.set(key, plan));
  return plan;
}

/** Lists as the native side has them. */
export function nativePlan(
  lists: readonly ServedList[],
  unknownLanguageShare: number,
): InstanceType<typeof native.SearchPlan> {
  const planned = lists.map(({ traits, space: _, ...list }) => ({
    ...list,
    family: traits.family,
    kind: traits.kind,
    scans: traits.scans,
    near_identical: traits.nearIdentical,
    described: traits.asksWith === 'query',
  }));
  return new native.SearchPlan(
    JSON.stringify({ lists: planned, unknown_language_share: unknownLanguageShare }),
  );
}

/**
 * The lists that answer a search: those of the requested families that apply to the query and whose models are installed.
 * @throws family_unavailable when only a model is missing, family_not_applicable when nothing applies
 */
export function planLists(input: SearchInput, encoder: PlanEncoder): ServedList[] {
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
