/** What an agent's command needs of its process. */
export interface Io {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the standard output, as it is. */
  write(text: string): void;
  /** Writes to the standard error, as it is. */
  explain(text: string): void;
  /** Columns of the terminal at the standard output; undefined without one. */
  readonly outColumns: number | undefined;
  /** As `outColumns`, at the standard error. */
  readonly errColumns: number | undefined;
  /** Asks the person at the terminal; undefined without one. */
  ask(question: string): Promise<boolean> | undefined;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
}

/** Exit codes, as documented in the help. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  payment: 4,
  unreachable: 5,
  partly: 6,
  interrupted: 130,
} as const;

/** A wrong use of a command: shown with its help. */
export class UsageError extends Error {}

/** Commands of an agent, by their first word; completion and the commands cannot differ from these. */
export const COMMAND_NAMES = [
  'search',
  'ingest',
  'workspace',
  'wallet',
  'mcp',
  'sign',
  'completion',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** What `farthing workspace` does. */
export const WORKSPACE_VERBS = ['create', 'use', 'list', 'usage', 'extend', 'dispose'] as const;
export type WorkspaceVerb = (typeof WORKSPACE_VERBS)[number];
