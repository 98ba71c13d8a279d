import { readFile } from 'node:fs/promises';
import type { SearchAnswer } from '@farthing/client';
import { understoodTexts } from '@farthing/client/answers/corrected';
import { unansweredText } from '@farthing/client/answers/unanswered';
import type { FarthingError } from '@farthing/protocol/error';
import { FAMILIES, type Family } from '@farthing/protocol/family';
import { counted } from '@farthing/protocol/figures';
import { type Filter, readFilter } from '@farthing/protocol/labels/filter';
import type { Like } from '@farthing/protocol/labels/like';
import { type Order, readOrder } from '@farthing/protocol/labels/order';
import { nearest } from '@farthing/protocol/nearest';
import {
  CHARS_MAX,
  CHARS_MIN,
  floorOf,
  isWorthShowing,
  K_MAX,
  PASSAGES_MAX,
  shownFirst,
} from '@farthing/protocol/search';
import { explainSpending, inWorkspace, openAccess } from '../access/access.ts';
import { UsageError } from '../commands/command-set.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { say } from '../terminal/say.ts';
import { styleFor } from '../terminal/style.ts';
import { clean } from '../wording/text.ts';
import type { Call } from '../words/specs.ts';
import { hitLines, hitList } from './hits.ts';

const K = 10;

/** `search "WORDS"` */
export async function searchCommand({ words, values }: Call<'search'>, io: Io): Promise<number> {
  const query = words.join(' ').trim() || undefined;
  if (query === undefined && values.image === undefined && values.like === undefined)
    throw new UsageError(
      'What should I search for? farthing search "words", or --image FILE, or both, or --like ITEM.',
    );
  if (values.like !== undefined && (query !== undefined || values.image !== undefined))
    throw new UsageError('--like comes without words and without --image.');
  if (values.also && (query === undefined || values.image !== undefined))
    throw new UsageError('--also comes with a first question in words, and without --image.');
  const queries = values.also && [query!, ...values.also];
  const isByLikeness = values.image !== undefined || values.like !== undefined;
  const search = {
    query: queries ? undefined : query,
    queries,
    fused: values.fused || undefined,
    image: values.image === undefined ? undefined : await readPicture(values.image),
    like: likeOf(values.like),
    order: orderOf(values),
    families: values.family?.map(familyOf),
    k: countOf(values.k),
    filter: filterOf(values),
    passages: numberOf('--passages', values.passages, 0, PASSAGES_MAX),
    maxChars: numberOf('--max-chars', values['max-chars'], CHARS_MIN, CHARS_MAX),
    exact: values.exact || undefined,
    minConfidence: shareOf(values['min-confidence'] ?? floorOf(isByLikeness)),
    signal: io.signal,
  };
  const access = await openAccess(values, io);
  const found = await inWorkspace(access, io, () => (access.workspace ?? access.client).search(search));
  const isEach = values['min-confidence'] !== undefined || values.like !== undefined;
  const answer = isEach ? found : worthShowing(found);
  if (values.json) {
    io.write(`${JSON.stringify(answer)}\n`);
    return EXIT.done;
  }
  const isWhole = values.k !== undefined || values['min-confidence'] !== undefined;
  const answers = values.fused ? undefined : answer.answers;
  if (!answers) showAnswer(answer, io, isWhole);
  for (const [at, { hits = [], ...one }] of answers?.entries() ?? []) {
    if (io.out) io.write(`${at > 0 ? '\n' : ''}${styleFor(io.out.colours).bold(clean(queries![at]!))}\n`);
    showAnswer({ ...answer, ...one, hits }, io, isWhole);
  }
  explainSpending(access, io);
  return EXIT.done;
}

/** @param isWhole how many hits, or how likely ones, was said: all are shown */
function showAnswer(answer: SearchAnswer, io: Io, isWhole: boolean): void {
  if (io.out) {
    explainAnswer(answer, io, isWhole);
    return;
  }
  io.write(hitLines(answer.hits));
  for (const text of understoodTexts(answer)) say(io, text);
  if (!answer.answered) say(io, unansweredText(answer.reason));
}

function explainAnswer(answer: SearchAnswer, io: Io, isWhole: boolean): void {
  const { hits, answered, reason, latency_ms } = answer;
  const terminal = io.out!;
  const style = styleFor(terminal.colours);
  const shown = isWhole ? hits : shownFirst(hits);
  const lines = [
    ...understoodTexts(answer).map((text) => style.dim(clean(text))),
    ...(answered
      ? []
      : [`${style.bold(unansweredText(reason))}${shown.length > 0 ? ' The nearest:\n' : ''}`]),
    ...(reason === 'nothing_searchable' ? ['"farthing ingest FILES" makes files searchable.'] : []),
    ...(shown.length > 0 ? [hitList(shown, terminal)] : []),
  ];
  if (hits.length > 0) {
    const more = hits.length - shown.length;
    const words = `${counted(hits.length, 'result')} in ${Math.ceil(latency_ms)} ms`;
    lines.push(style.dim(more > 0 ? `${words}; ${more} less likely: -k ${hits.length} shows all` : words));
  }
  io.write(`${lines.join('\n')}\n`);
}

async function readPicture(path: string): Promise<Uint8Array> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new UsageError(`--image: there is no ${path}.`) : error;
  });
}

function familyOf(name: string): Family {
  const known = FAMILIES.find((family) => family === name);
  if (known) return known;
  const near = nearest(name, FAMILIES);
  throw new UsageError(
    `--family: there is no "${name}". ${near ? `Did you mean ${near}?` : `It is one of: ${FAMILIES.join(', ')}.`}`,
  );
}

/** Files that meet all of the options, as one filter. Undefined: all files. */
function filterOf({ name, type, filter }: Call<'search'>['values']): Filter | undefined {
  const parts: Filter = { ...(name && { name }), ...(type && { media_type: type }) };
  if (filter === undefined) return name || type ? parts : undefined;
  let given: unknown;
  try {
    given = JSON.parse(filter);
    readFilter(given);
  } catch (error) {
    const detail = (error as { detail?: string }).detail ?? 'must be JSON.';
    throw new UsageError(`--${detail.startsWith('filter') ? '' : 'filter: '}${detail}`);
  }
  return name || type ? { ...parts, and: [given as Filter] } : (given as Filter);
}

/** `ITEM`, or `ITEM:PAGE`. */
function likeOf(text: string | undefined): Like | undefined {
  const [, item, page] = /^(.*?)(?::(\d+))?$/.exec(text ?? '') ?? [];
  if (!item) return undefined;
  return page === undefined ? item : { item, page: Number(page) };
}

function orderOf({
  order: by,
  ascending,
  'half-life': halfLife,
}: Call<'search'>['values']): Order | undefined {
  if (by === undefined) {
    if (ascending || halfLife !== undefined)
      throw new UsageError('--ascending and --half-life come with --order: --order created_at.');
    return undefined;
  }
  const order: Order = {
    by,
    ...(ascending && { direction: 'ascending' }),
    ...(halfLife !== undefined && { decay: { half_life: Number(halfLife) } }),
  };
  try {
    readOrder(order);
  } catch (error) {
    throw new UsageError(`--${(error as FarthingError).detail}`);
  }
  return order;
}

function countOf(k: string | undefined): number {
  return numberOf('-k', k, 1, K_MAX) ?? K;
}

function numberOf(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= least && count <= most) return count;
  throw new UsageError(`${name}: "${text}" is not a whole number from ${least} to ${most}.`);
}

/** An answer without what is neither likely nor looks alike. */
function worthShowing(answer: SearchAnswer): SearchAnswer {
  return { ...answer, hits: answer.hits.filter(isWorthShowing) };
}

function shareOf(text: string | number): number {
  const share = Number(text);
  if (share >= 0 && share <= 1) return share;
  throw new UsageError(`--min-confidence: "${text}" is not a number from 0 to 1.`);
}
