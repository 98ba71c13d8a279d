import { createInterface } from 'node:readline/promises';
import { runAgentCommand } from '../cli/command.ts';

/** The commands of an agent: `farthing search` and its like. They need a server's address, and nothing of its folder. */

const { stdin, stdout, stderr } = process;
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => interrupted.abort());
}
// Whoever reads the output may stop early, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runAgentCommand(process.argv.slice(2), {
  environment: process.env,
  write: (text) => void stdout.write(text),
  explain: (text) => void stderr.write(text),
  outColumns: stdout.isTTY ? stdout.columns : undefined,
  errColumns: stderr.isTTY ? stderr.columns : undefined,
  ask: stdin.isTTY && stderr.isTTY ? askPerson : () => undefined,
  signal: interrupted.signal,
});

async function askPerson(question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(question, { signal: interrupted.signal }));
  } finally {
    lines.close();
  }
}
