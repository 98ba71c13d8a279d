import { runAgentCommand } from '@farthing/cli/command';
import type { Terminal } from '@farthing/cli/terminal/io';
import { onStopSignals } from '@farthing/server/start/stop-signals';

/** Runs an agent's commands (`farthing search`). They need a server's address, not its data folder. */

const { stdin, stdout, stderr } = process;
const COLUMNS = 80;
const interrupted = new AbortController();
onStopSignals(
  () => interrupted.abort(),
  () => process.exit(1),
);
// A reader of the output may stop early, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runAgentCommand(process.argv.slice(2), {
  environment: process.env,
  write: (text) => void stdout.write(text),
  explain: (text) => void stderr.write(text),
  out: terminalOf(stdout),
  err: terminalOf(stderr),
  ask: stdin.isTTY && stderr.isTTY ? askPerson : () => undefined,
  signal: interrupted.signal,
});

/** A terminal without a size says 0. */
function terminalOf(stream: NodeJS.WriteStream): Terminal | undefined {
  return stream.isTTY ? { columns: stream.columns || COLUMNS, colours: stream.hasColors() } : undefined;
}

async function askPerson(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(question, { signal: interrupted.signal }));
  } finally {
    lines.close();
  }
}
