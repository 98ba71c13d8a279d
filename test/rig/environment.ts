import { isSetting, variableOf } from '../../src/server/settings/names.ts';

const { PATH = '', NODE_COMPILE_CACHE, BUILT_READER, SLOTS, FRONTS = '1', FARTHING_PROVIDER } = process.env;

/**
 * Of every server that a test starts: its fronts, the same on every machine, or as `FRONTS` says; its slots, where `SLOTS` says so; and who
 * encodes, where `FARTHING_PROVIDER` does.
 */
export const TESTED: Readonly<Record<string, string>> = {
  ...(SLOTS !== undefined && { FARTHING_SLOTS: SLOTS }),
  FARTHING_FRONTS: FRONTS,
  ...(FARTHING_PROVIDER !== undefined && { FARTHING_PROVIDER }),
};

/** What a program that a test starts finds beside its own variables: where Node keeps compiled modules saves a third of a start. */
export const BARE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH,
  // For what is compared with a server: the server itself sets it (src/native/index.ts).
  ORT_DISABLE_TELEMETRY: '1',
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
  // Read by the test runner's module hook (test/runner/stripped.js).
  ...(BUILT_READER !== undefined && { BUILT_READER }),
  ...TESTED,
};

/** An environment in which settings are written by their names in the code, as a server reads it; other variables stay as they are. */
export function environmentOf<T extends string | undefined>(
  variables: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [isSetting(name) ? variableOf(name) : name, value]),
  );
}
