import type { IngestOutcome, Metadata, SyncPlan } from '@farthing/client';
import { bytesText, counted } from '@farthing/protocol/figures';
import { type Access, inWorkspace } from '../access/access.ts';
import { UsageError } from '../commands/command-set.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { ProgressLine } from '../terminal/progress.ts';
import { say } from '../terminal/say.ts';
import { nameOf, refusalsText } from './refusals.ts';

interface Asked {
  readonly folder: string;
  readonly concurrency: number;
  readonly metadata: Metadata | undefined;
  readonly json: boolean;
}

/** `ingest --sync FOLDER`: makes a workspace hold what the folder holds, at the cost of what has changed. */
export async function syncCommand(
  { folder, concurrency, metadata, json }: Asked,
  access: Access,
  io: Io,
): Promise<number> {
  const { workspace } = access;
  if (!workspace) throw new UsageError('--sync needs a workspace: "farthing workspace create" rents one.');
  const line = new ProgressLine(io);
  let plan: SyncPlan = { uploads: 0, bytes: 0, unchanged: 0, removals: 0 };
  let ended = 0;
  const onPlan = (made: SyncPlan) => {
    plan = made;
    const size = `${counted(made.uploads, 'file')} to send, ${bytesText(made.bytes)}`;
    if (io.err) say(io, `${size}; ${made.unchanged} unchanged, ${made.removals} to remove`);
  };
  const onOutcome = (outcome: IngestOutcome) => {
    ended += 1;
    if (json) io.write(`${JSON.stringify(outcomeJson(outcome))}\n`);
    line.show(ended / plan.uploads, `${ended} of ${plan.uploads}  ${nameOf(outcome.key)}`);
  };
  try {
    const { ingested, unchanged, removed, failed } = await inWorkspace(access, io, () =>
      workspace.syncFolder(folder, { concurrency, metadata, signal: io.signal, onPlan, onOutcome }),
    );
    line.clear();
    if (json) {
      const summary = { ingested, unchanged, removed, failed: failed.length };
      io.write(`${JSON.stringify({ summary })}\n`);
    } else {
      const refusals = failed.length > 0 ? refusalsText(failed, io.err?.columns) : '';
      io.explain(
        `${counted(ingested, 'file')} made searchable, ${unchanged} unchanged, ${removed} removed\n${refusals}`,
      );
    }
    return failed.length > 0 ? EXIT.partly : EXIT.done;
  } finally {
    line.clear();
  }
}

export function outcomeJson(outcome: IngestOutcome): object {
  const file = outcome.key.split('\u0000')[0]!;
  if ('answer' in outcome)
    return { file, item: outcome.answer.item, duplicate: outcome.answer.duplicate ?? false };
  const { code, detail } = outcome.error as { code?: string; detail?: string };
  return { file, error: { code, detail } };
}
