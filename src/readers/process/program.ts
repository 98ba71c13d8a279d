import type { Done, Output } from '../reading/sink.ts';
import type { Settings, Task } from './messages.ts';

/** One kind of child process, ready for its tasks. */
export interface Program {
  /** Reads something while confined, so that a library that loads parts lazily fails here or never. */
  tryOut(): Promise<void>;
  perform(task: Task, body: Buffer, output: Output): Promise<Done>;
}

/** Loads everything that a program needs, before the process is confined. */
export type Prepare = (settings: Settings) => Promise<Program>;
