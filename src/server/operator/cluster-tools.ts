import type { Finding } from '@farthing/protocol/schema/operator';
import type { Settings } from '../settings/settings.ts';
import type { CommandIo } from './io.ts';

type Examine = (settings: Settings) => Promise<Finding[]>;
type Command<Args extends readonly unknown[] = []> = (...call: [...Args, CommandIo]) => Promise<number>;

/** Checks and commands for several servers. The package `cluster` has them; the program hands it over. */
export interface ClusterTools {
  readonly examineBooks: Examine;
  readonly examineObjects: Examine;
  readonly showCluster: Command;
  readonly drainNode: Command<[node: string, undo: boolean]>;
  readonly forgetNode: Command<[node: string]>;
  readonly importFolder: Command;
  readonly copyClusterBooks: Command<[target: string]>;
  readonly backUpClusterTo: Command<[target: string]>;
  readonly finishUpgrade: Command;
  readonly forgetClusterModels: Command;
}

/** Loads them when they are needed: one server never does. */
export type LoadClusterTools = () => Promise<ClusterTools>;
