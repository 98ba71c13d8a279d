import { resolve } from 'node:path';
import { UsageError } from '@farthing/cli/commands/command-set';
import { ConfigError, type Environment, readConfig } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import type { LoadClusterTools } from './cluster-tools.ts';

/** The parts of its process that an operator's command needs. */
export interface CommandIo {
  readonly environment: Environment;
  /** Checks and commands for several servers. */
  readonly cluster: LoadClusterTools;
  /** Columns of the standard output's terminal; absent where there is none. */
  readonly columns?: number;
  /** Writes to the standard output, as it is. */
  write(text: string): void;
  /** Writes one line to the standard error. */
  explain(line: string): void;
  /** Replaces the line of progress on the standard error's terminal; absent where there is none. */
  readonly progress?: (line: string) => void;
  /** The whole standard input. */
  input(): Promise<string>;
  pause(milliseconds: number): Promise<void>;
  /** From its first call on, an interruption aborts the signal instead of ending the process. Absent: not interruptible. */
  readonly interruption?: () => AbortSignal;
}

/** Exit codes of the operator's commands. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The settings, as the server reads them. @throws UsageError when they cannot be used */
export function settingsOf({ environment }: CommandIo): Settings {
  try {
    return readConfig(environment);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

/** Absolute path of the data folder that the settings name. @throws UsageError */
export function dataFolder(io: CommandIo): string {
  return resolve(settingsOf(io).DATA_DIR);
}
