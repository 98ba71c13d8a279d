import { isSetting, variableOf } from '../../src/settings/names.ts';

/** An environment in which settings are written by their names in the code, as a server reads it; other variables stay as they are. */
export function environmentOf<T extends string | undefined>(
  variables: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [isSetting(name) ? variableOf(name) : name, value]),
  );
}
