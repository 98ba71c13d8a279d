/** An agent command's access to its process. */
export interface Io {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the standard output, as it is. */
  write(text: string): void;
  /** Writes to the standard error, as it is. */
  explain(text: string): void;
  /** The terminal at the standard output; undefined without one. */
  readonly out: Terminal | undefined;
  /** Like `out`, at the standard error. */
  readonly err: Terminal | undefined;
  /** Asks the person at the terminal; undefined without one. */
  ask(question: string): Promise<boolean> | undefined;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
}

export interface Terminal {
  readonly columns: number;
  /** Whether it shows colours, and the person wants them (NO_COLOR). */
  readonly colours: boolean;
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
