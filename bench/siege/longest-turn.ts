import { once } from 'node:events';
import type { StartedServer } from '../rig/agent.ts';

/** The longest turn of a server's event loop, in milliseconds. */
export interface Turn {
  /** By the clock. */
  readonly clock: number;
  /** By the thread's processor time, without that of other programs. */
  readonly processor: number;
}

/** The longest turn since the last call. */
export async function longestTurn({ child }: StartedServer): Promise<Turn> {
  const told = once(child, 'message');
  child.send('longest turn?');
  return ((await told) as [Turn])[0];
}
