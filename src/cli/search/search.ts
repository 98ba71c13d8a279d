import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { correctedText } from '../../client/answers/corrected.ts';
import { unansweredText } from '../../client/answers/unanswered.ts';
import type { Family } from '../../client/index.ts';
import { CONFIDENCE_FLOOR } from '../../domain/search.ts';
import { COMMON_OPTIONS, explainSpending, openAccess } from '../access.ts';
import { EXIT, type Io, UsageError } from '../io.ts';
import { formatTable, HIT_HEAD, hitRows } from '../terminal/table.ts';

const OPTIONS = {
  ...COMMON_OPTIONS,
  image: { type: 'string', short: 'i' },
  family: { type: 'string', short: 'f', multiple: true },
  k: { type: 'string', short: 'k' },
  exact: { type: 'boolean' },
  'min-confidence': { type: 'string' },
} as const;

/** `search "words" [--image FILE] [--family …] [-k N] [--exact] [--min-confidence P]`. */
export async function searchCommand(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const query = positionals.join(' ') || undefined;
  if (query === undefined && values.image === undefined)
    throw new UsageError('Give words, --image FILE, or both.');
  const k = values.k === undefined ? 10 : Number(values.k);
  if (!Number.isInteger(k)) throw new UsageError('-k must be a whole number.');
  const minConfidence = Number(values['min-confidence'] ?? CONFIDENCE_FLOOR);
  if (!(minConfidence >= 0 && minConfidence <= 1))
    throw new UsageError('--min-confidence must be a number from 0 to 1.');
  const access = await openAccess(values, io);
  const image = values.image === undefined ? undefined : await readFile(values.image);
  const search = {
    query,
    image,
    families: values.family as Family[] | undefined,
    k,
    exact: values.exact,
    minConfidence,
    signal: io.signal,
  };
  const answer = await (access.workspace ?? access.client).search(search);
  if (values.json) io.write(`${JSON.stringify(answer)}\n`);
  else if (answer.hits.length > 0)
    io.write(`${formatTable(HIT_HEAD, hitRows(answer.hits), io.outColumns)}\n`);
  if (!values.json && answer.corrected !== undefined) io.explain(`${correctedText(answer.corrected)}\n`);
  if (!values.json && !answer.answered) io.explain(`${unansweredText(answer.reason)}\n`);
  if (!values.json && io.errColumns)
    io.explain(`${answer.hits.length} hits in ${answer.latency_ms.toFixed(1)} ms\n`);
  explainSpending(access, io);
  return EXIT.done;
}
