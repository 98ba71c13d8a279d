import type { IngestOutcome, NamedSource } from '@farthing/client';
import { counted } from '@farthing/protocol/figures';
import { type NotRead, sayNotRead } from '@farthing/protocol/file/not-read';
import { type Metadata, readMetadata, type Scalar, scalarOf } from '@farthing/protocol/labels/metadata';
import { explainSpending, inWorkspace, openAccess } from '../access/access.ts';
import { UsageError } from '../commands/command-set.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { ProgressLine } from '../terminal/progress.ts';
import { say } from '../terminal/say.ts';
import { wrapWords } from '../wording/text.ts';
import type { Call } from '../words/specs.ts';
import { filesIn } from './files.ts';
import { IngestMemory } from './ingest-memory.ts';
import { confirmUpload } from './price.ts';
import { nameOf, refusalsText } from './refusals.ts';
import { outcomeJson, syncCommand } from './sync.ts';

const CONCURRENCY = 4;
const CONCURRENCY_MAX = 16;

/** `ingest FILES…`: resumes an interrupted run. */
export async function ingestCommand({ words, values }: Call<'ingest'>, io: Io): Promise<number> {
  const concurrency = Number(values.concurrency ?? CONCURRENCY);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX)
    throw new UsageError(
      `--concurrency: "${values.concurrency}" is not a whole number from 1 to ${CONCURRENCY_MAX}.`,
    );
  const metadata = metadataOf(values.meta);
  if (values.sync) {
    const [folder, ...others] = words;
    if (others.length > 0) throw new UsageError('--sync takes one folder.');
    const access = await openAccess(values, io, { patient: true, mayMake: true });
    return syncCommand({ folder: folder!, concurrency, metadata, json: values.json }, access, io);
  }
  const files = await filesIn(words, values.recursive);
  const access = await openAccess(values, io, { patient: true, mayMake: true });
  const memory = await IngestMemory.open(io, access.target, { empty: values.again });
  const line = new ProgressLine(io);
  try {
    const left = files.filter(({ key }) => !memory.has(key));
    if (left.length > 1) await confirmUpload(left, access, io);
    const before = files.length - left.length;
    let [ended, refused] = [0, 0];
    const unread = new Map<string, readonly NotRead[]>();
    const onOutcome = (outcome: IngestOutcome) => {
      ended += 1;
      if ('error' in outcome) refused += 1;
      else if (outcome.answer.item?.not_read?.length) unread.set(outcome.key, outcome.answer.item.not_read);
      if (values.json) io.write(`${JSON.stringify(outcomeJson(outcome))}\n`);
      line.show(ended / left.length, `${ended} of ${left.length}  ${nameOf(outcome.key)}`);
    };
    const target = access.workspace ?? access.client;
    const summary = await inWorkspace(access, io, () =>
      target.ingestMany(files as NamedSource[], {
        concurrency,
        metadata,
        log: memory,
        signal: io.signal,
        onOutcome,
        onProgress: (key, progress) => {
          const share =
            progress.stage === 'sending' ? progress.bytes / (progress.bytesTotal || 1) : progress.progress;
          line.show(
            (ended + share / 2) / left.length,
            `${ended} of ${left.length}  ${progress.stage} ${nameOf(key)}`,
          );
        },
      }),
    ).catch((error: unknown) => {
      line.clear();
      const some = refused === 0 ? '' : ` (${refused} refused)`;
      if (files.length > 1)
        say(io, `${before + ended} of ${files.length} done${some}; run the same command to resume.`);
      if (files.length > 1 && io.signal.aborted) return undefined;
      throw error;
    });
    line.clear();
    if (!summary) return EXIT.interrupted;
    const { ingested, duplicates, skipped, failed } = summary;
    if (values.json) {
      const totals = { ingested, duplicates, skipped, failed: failed.length };
      io.write(`${JSON.stringify({ summary: totals })}\n`);
    } else {
      const known = duplicates + skipped;
      const parts = [
        `${counted(ingested, 'file')} made searchable`,
        ...(known > 0 ? [`${known} there already`] : []),
      ];
      const columns = io.err?.columns;
      const refusals = failed.length > 0 ? refusalsText(failed, columns) : '';
      io.explain(`${parts.join(', ')}\n${refusals}${unreadText(unread, columns)}`);
    }
    return failed.length > 0 ? EXIT.partly : EXIT.done;
  } finally {
    line.clear();
    await memory.close();
    explainSpending(access, io);
  }
}

const NAMES_SHOWN = 3;

/** The unread parts of searchable files, by part and reason. @param columns width of the terminal */
function unreadText(files: ReadonlyMap<string, readonly NotRead[]>, columns = Infinity): string {
  const byPart = new Map<string, string[]>();
  for (const [key, parts] of files)
    for (const { what, why } of parts) {
      const said = sayNotRead({ what, why });
      byPart.set(said, [...(byPart.get(said) ?? []), nameOf(key)]);
    }
  const lines = [...byPart].map(([said, names]) => {
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
    const line = `${said}: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
    return `  ${wrapWords(line, columns - 3).join('\n  ')}\n`;
  });
  return lines.length === 0 ? '' : `Not read of ${counted(files.size, 'file')}:\n${lines.join('')}`;
}

/** `year=2024`, `draft=false`, `team=red` as metadata: what reads as a number, or as true or false, is one. @throws UsageError */
function metadataOf(pairs: readonly string[] | undefined): Metadata | undefined {
  if (!pairs) return undefined;
  const fields = pairs.map((pair): [string, Scalar] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--meta: "${pair}" is no NAME=VALUE.`);
    return [pair.slice(0, at), scalarOf(pair.slice(at + 1))];
  });
  try {
    return readMetadata(JSON.stringify(Object.fromEntries(fields)));
  } catch (error) {
    throw new UsageError(`--meta: ${(error as { detail: string }).detail}`);
  }
}
