import type { ClientCode, FarthingError } from '../client/index.ts';
import { FAMILIES } from '../domain/family.ts';
import { completionCommand } from './completion.ts';
import { ingestCommand } from './ingest/ingest.ts';
import { type CommandName, EXIT, type Io, UsageError } from './io.ts';
import { searchCommand } from './search/search.ts';
import { signCommand } from './sign.ts';
import { walletCommand } from './wallet.ts';
import { workspaceCommand } from './workspace/workspace.ts';

export const AGENT_HELP = `farthing search "words" [--image FILE] [--family ${FAMILIES.join('|')}]… [-k N] [--exact] [--min-confidence P]
farthing ingest PATHS… [--recursive] [--concurrency N] [--again]   resumes an interrupted run
farthing workspace create [--minutes N] [--spend-limit USD]        rents one and makes it the current one
farthing workspace use ID [TOKEN] | use none | list | usage [ID] | extend [ID] [--minutes N] | dispose [ID]
farthing wallet new | show                                         the key stays in a file that only you can read
farthing mcp [--budget USD]                                        MCP server on standard input and output
farthing sign [--max-price USD]                                    headers of a 402 in, the paying header out (default 0.1)
farthing completion bash | zsh                                     source it: eval "$(farthing completion bash)"
farthing admin --help                                              the commands of an operator

  --server URL        default: FARTHING_URL, or http://127.0.0.1:8402
  --workspace ID, -w  instead of the current one; --no-workspace: your wallet's own index, paid by the call
  --budget USD        the most that this command may spend (default 1; FARTHING_BUDGET_USD)
  --max-price USD     the most that one call may cost (default 1; FARTHING_MAX_PRICE_USD)
  --ask-above USD     ask before a price above it (default 0.05); --yes, -y: don't ask
  --json              for pipes: one JSON value a line

Exit codes: 0 done, 1 failed, 2 wrong use, 3 refused by the server, 4 not paid (budget, price, declined, refused),
5 server unreachable or answer lost, 6 some files failed, 130 interrupted.
`;

/** Commands of an agent, by their first word. */
export const COMMANDS: Readonly<
  Record<CommandName, (args: readonly string[], io: Io) => Promise<number> | number>
> = {
  search: searchCommand,
  ingest: ingestCommand,
  workspace: workspaceCommand,
  wallet: (args, io) =>
    walletCommand(
      args.filter((word) => word !== '--json'),
      io,
      args.includes('--json'),
    ),
  completion: completionCommand,
  // Loaded on demand: its packages take a third of the start of every other command.
  mcp: async (args, io) => (await import('./mcp.ts')).mcpCommand(args, io),
  sign: signCommand,
};

const HELP_OPTIONS = new Set(['--help', '-h']);

/** Runs one command. @returns its exit code; faults are explained, never thrown. */
export async function runAgentCommand(words: readonly string[], io: Io): Promise<number> {
  const [name = 'help', ...args] = words;
  if (name === 'help' || words.some((word) => HELP_OPTIONS.has(word))) {
    io.write(AGENT_HELP);
    return EXIT.done;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name as CommandName] : undefined;
  if (!command) {
    io.explain(`There is no command "${name}".\n\n${AGENT_HELP}`);
    return EXIT.usage;
  }
  try {
    return await command(args, io);
  } catch (error) {
    if (io.signal.aborted) {
      io.explain('Interrupted.\n');
      return EXIT.interrupted;
    }
    if (isUsage(error)) {
      io.explain(`${(error as Error).message}\n\n${AGENT_HELP}`);
      return EXIT.usage;
    }
    return explainFailure(error as FarthingError, io, args.includes('--json'));
  }
}

function isUsage(error: unknown): boolean {
  return error instanceof UsageError || /^ERR_PARSE_ARGS/.test(String((error as { code?: unknown }).code));
}

/** Exit codes of what only a client can find out; the server's codes follow from their status. */
const EXIT_OF: Readonly<Record<ClientCode, number>> = {
  price_over_limit: EXIT.payment,
  budget_exceeded: EXIT.payment,
  payment_declined: EXIT.payment,
  payment_unsupported: EXIT.payment,
  payment_refused: EXIT.payment,
  wallet_missing: EXIT.payment,
  answer_lost: EXIT.unreachable,
  server_unreachable: EXIT.unreachable,
  answer_unexpected: EXIT.unreachable,
  ingest_timeout: EXIT.failed,
  source_unreadable: EXIT.failed,
  receipt_invalid: EXIT.failed,
  receipt_unchecked: EXIT.failed,
};

function explainFailure(
  { code, detail, message, status, facts, requestId }: FarthingError,
  io: Io,
  json: boolean,
): number {
  if (json)
    io.write(
      `${JSON.stringify({ error: { code, detail: detail ?? message, status, request_id: requestId, ...facts } })}\n`,
    );
  else
    io.explain(
      `${message}\n${code === 'wallet_missing' ? 'Make a wallet with "farthing wallet new".\n' : ''}`,
    );
  if (Object.hasOwn(EXIT_OF, code)) return EXIT_OF[code as ClientCode];
  if (status === undefined) return EXIT.failed;
  return status >= 500 ? EXIT.unreachable : EXIT.refused;
}
