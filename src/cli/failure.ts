import type { ClientCode, FarthingError } from '@farthing/client';
import { usdText } from '@farthing/protocol/figures';
import { UsageError } from './commands/command-set.ts';
import { EXIT, type Io } from './terminal/io.ts';
import { say } from './terminal/say.ts';
import { styleFor } from './terminal/style.ts';
import { fileFault } from './wording/file-fault.ts';

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

/** Says what went wrong, and what to do. @returns the exit code */
export function explainFailure(thrown: unknown, io: Io, json: boolean): number {
  const error = thrown as FarthingError;
  if (io.signal.aborted) {
    io.explain('Interrupted.\n');
    return EXIT.interrupted;
  }
  const { code, detail, message, status, facts, requestId } = error;
  const isUsage = thrown instanceof UsageError;
  if (json && !isUsage)
    io.write(
      `${JSON.stringify({ error: { code, detail: detail ?? message, status, request_id: requestId, ...facts } })}\n`,
    );
  else {
    const style = styleFor(io.err?.colours ?? false);
    // docs/troubleshooting.md explains the server's refusals by code.
    const known = status === undefined ? '' : style.dim(` (${code})`);
    say(io, sentence(error) + known);
  }
  if (isUsage) return EXIT.usage;
  if (Object.hasOwn(EXIT_OF, code)) return EXIT_OF[code as ClientCode];
  if (code === 'workspace_unauthorized') return EXIT.refused;
  if (status === undefined) return EXIT.failed;
  return status >= 500 ? EXIT.unreachable : EXIT.refused;
}

/** The client speaks of its own options; a person knows the command's. */
function sentence(error: FarthingError): string {
  const { code, detail, message, facts } = error;
  switch (code) {
    case 'price_over_limit':
      return `The price is ${usdText(String(facts.price_usd))}, over the limit of ${usdText(String(facts.max_price_usd))} for one call: --max-price ${facts.price_usd} allows it. Nothing was paid.`;
    case 'budget_exceeded':
      if (facts.left_usd === undefined) return detail;
      return `The price is ${usdText(String(facts.price_usd))}, and ${facts.left_usd} of the budget of ${usdText(String(facts.budget_usd))} are left: a higher --budget allows it. Nothing more was paid.`;
    case 'answer_lost':
      return 'No answer came, and the call may have been charged.';
    case 'server_unreachable':
      return `${detail} --server or FARTHING_URL names another.`;
    default:
      return detail ?? fileFault(error) ?? message;
  }
}
