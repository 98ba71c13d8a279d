import { clusterTools } from '../../../../src/bin/start.ts';
import { runAdminCommand } from '../../../../src/server/operator/commands/command.ts';

export interface CommandOutcome {
  readonly status: number;
  readonly written: string;
  readonly explained: string;
  /** Each line of progress, in order. */
  readonly progress: readonly string[];
}

/** Runs `farthing admin WORDS…` in this process. Nothing is waited for between attempts. */
export async function runCommand(
  environment: Readonly<Record<string, string | undefined>>,
  words: readonly string[],
): Promise<CommandOutcome> {
  const output = { written: '', explained: '', progress: [] as string[] };
  const status = await runAdminCommand(words, {
    environment,
    cluster: clusterTools,
    write: (text) => {
      output.written += text;
    },
    explain: (line) => {
      output.explained += `${line}\n`;
    },
    progress: (line) => output.progress.push(line),
    input: async () => '',
    pause: async () => undefined,
  });
  return { status, ...output };
}
