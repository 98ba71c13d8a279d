import { createReadStream } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import type { IngestOutcome } from '@farthing/client';
import { bytesText, counted } from '@farthing/protocol/figures';
import { explainSpending, inWorkspace } from '../access/access.ts';
import { UsageError } from '../commands/command-set.ts';
import { nameOf, refusalsText } from '../ingest/refusals.ts';
import { outcomeJson } from '../ingest/sync.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { ProgressLine } from '../terminal/progress.ts';
import type { Call } from '../words/specs.ts';
import { openWorkspace } from './workspace.ts';

const FILE_MODE = 0o600;

/** `workspace export FILE`: writes all that a workspace holds; the file is there once it is complete. */
export async function workspaceExport({ words, values }: Call<'workspace export'>, io: Io): Promise<number> {
  const path = words[0]!;
  const access = await openWorkspace([], values, io);
  const { workspace } = access;
  const part = `${path}.part`;
  try {
    await inWorkspace(access, io, () =>
      writeFile(
        part,
        workspace.export({ content: !values['no-files'], vectors: values.vectors, signal: io.signal }),
        { mode: FILE_MODE },
      ),
    );
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  const { size } = await stat(path);
  if (values.json) io.write(`${JSON.stringify({ workspace: workspace.id, file: path, bytes: size })}\n`);
  else io.write(`${workspace.id} is in ${path}, ${bytesText(size)}\n`);
  return EXIT.done;
}

/** `workspace import FILE`: uploads what another workspace's export holds. */
export async function workspaceImport({ words, values }: Call<'workspace import'>, io: Io): Promise<number> {
  const path = words[0]!;
  await stat(path).catch(() => {
    throw new UsageError(`There is no file ${path}.`);
  });
  const access = await openWorkspace([], values, io);
  const line = new ProgressLine(io);
  let ended = 0;
  const onOutcome = (outcome: IngestOutcome) => {
    ended += 1;
    if (values.json) io.write(`${JSON.stringify(outcomeJson(outcome))}\n`);
    line.show(0, `${ended}  ${nameOf(outcome.key)}`);
  };
  try {
    const { imported, unchanged, failed, withoutFile, vectorsLeftOut } = await inWorkspace(access, io, () =>
      access.workspace.import(createReadStream(path), { signal: io.signal, onOutcome }),
    );
    line.clear();
    const missing = withoutFile.length;
    if (values.json) {
      const counts = { imported, unchanged, failed: failed.length, without_file: missing };
      io.write(`${JSON.stringify({ summary: { ...counts, vectors_left_out: vectorsLeftOut } })}\n`);
    } else {
      const refusals = failed.length > 0 ? refusalsText(failed, io.err?.columns) : '';
      const left = missing > 0 ? `, ${counted(missing, 'item')} without a file left out` : '';
      const vectors = vectorsLeftOut ? 'The vectors were left out: the server made its own.\n' : '';
      io.explain(
        `${counted(imported, 'file')} made searchable, ${unchanged} unchanged${left}\n${vectors}${refusals}`,
      );
    }
    explainSpending(access, io);
    return failed.length > 0 ? EXIT.partly : EXIT.done;
  } finally {
    line.clear();
  }
}
