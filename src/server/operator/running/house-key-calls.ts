import { FarthingError } from '@farthing/protocol/error';
import type { HouseKeys, KeyTerms, ShownKey } from '../../workspace/house/house-keys.ts';

export interface KeysAnswer {
  readonly keys: readonly ShownKey[];
}

/** The only answer that has a key. */
export interface NewKeyAnswer {
  readonly key: string;
}

interface KeyCall {
  readonly method: string | undefined;
  readonly name: string | undefined;
  /** JSON of `KeyTerms`, as the command has checked them. */
  readonly terms: string | null;
}

/** What the operator's commands do with the keys of the house, at a running server or over a stopped one's state. @throws not_found, field_invalid */
export async function askKeys(
  keys: HouseKeys | undefined,
  { method, name, terms }: KeyCall,
): Promise<object> {
  if (!keys) throw new FarthingError('not_found', ALONE);
  if (method === 'GET' && name === undefined) return { keys: keys.list() } satisfies KeysAnswer;
  if (method === 'POST' && name !== undefined && terms !== null)
    return { key: await keys.create({ ...(JSON.parse(terms) as KeyTerms), name }) } satisfies NewKeyAnswer;
  if (method === 'DELETE' && name !== undefined) {
    await keys.revoke(name);
    return {};
  }
  throw new FarthingError('method_not_allowed', 'Use GET, or POST or DELETE with a name.');
}

/** Why several servers have no keys. */
export const ALONE =
  'Keys of the house are for a server alone: with FARTHING_CLUSTER, or several slots, a key would be known to one of them (docs/house.md).';
