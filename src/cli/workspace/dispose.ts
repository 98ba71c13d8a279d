import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DisposalAnswer, FarthingError, UsageAnswer, Workspace } from '@farthing/client';
import { counted } from '@farthing/protocol/figures';
import { inWorkspace } from '../access/access.ts';
import { makeFolder, stateFile } from '../access/folders.ts';
import { markEnded } from '../access/workspace-memory.ts';
import { UsageError } from '../commands/command-set.ts';
import { timeLeftText } from '../terminal/figures.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { ask, fitted, say } from '../terminal/say.ts';
import type { Call } from '../words/specs.ts';
import { openWorkspace } from './workspace.ts';

const FILE_MODE = 0o600;

/** `workspace dispose [ID]`: asks, destroys, and keeps the verified receipt. */
export async function workspaceDispose(
  { words, values }: Call<'workspace dispose'>,
  io: Io,
): Promise<number> {
  const access = await openWorkspace(words, values, io, true);
  const { workspace } = access;
  const usage = await usageOf(workspace);
  if (usage && !values.yes) {
    const { items, ttl_seconds_left } = usage;
    const content = `${workspace.id} (${counted(items, 'file')}, ${timeLeftText(ttl_seconds_left)})`;
    const answer = ask(io, `Destroy ${content}? Nothing of it can be brought back.`);
    if (!answer)
      throw new UsageError(
        `This destroys ${content} for good, and there is no terminal to ask at: --yes does it.`,
      );
    if (!(await answer)) {
      say(io, 'Nothing was destroyed.');
      return EXIT.done;
    }
  }
  const { disposal, doubt } = await inWorkspace(access, io, () =>
    withDoubt(usage ? workspace.dispose() : workspace.receipt()),
  );
  await markEnded(io, workspace.id, 'destroyed');
  const path = await keepReceipt(io, disposal);
  if (values.json) io.write(`${JSON.stringify({ ...disposal, file: path })}\n`);
  else io.write(`${fitted(endText(workspace.id, usage?.items), io.out)}\n`);
  if (doubt) throw doubt;
  if (!values.json) say(io, `The signed receipt, checked, is in ${path}.`);
  return EXIT.done;
}

/** Undefined when it has expired: then there is nothing to confirm. */
async function usageOf(workspace: Workspace): Promise<UsageAnswer | undefined> {
  return workspace.usage().catch((error: FarthingError) => {
    if (error.code === 'workspace_unauthorized') return undefined;
    throw error;
  });
}

function endText(id: string, files: number | undefined): string {
  if (files === undefined) return `${id} had already expired, and its files are gone.`;
  const all = files === 1 ? 'it' : 'them';
  return `${id} is destroyed: ${counted(files, 'file')} and all that was found in ${all} are gone.`;
}

/** The data is destroyed even where the receipt is in doubt. */
async function withDoubt(
  disposing: Promise<DisposalAnswer>,
): Promise<{ disposal: DisposalAnswer; doubt?: FarthingError }> {
  try {
    return { disposal: await disposing };
  } catch (error) {
    const { facts } = error as FarthingError;
    const disposal = facts?.disposal as DisposalAnswer | undefined;
    if (!disposal) throw error;
    return { disposal, doubt: error as FarthingError };
  }
}

/** @returns the path of the file that has it */
async function keepReceipt(io: Io, { id, receipt }: DisposalAnswer): Promise<string> {
  const path = stateFile(io, join('receipts', `${id}.jwt`));
  await makeFolder(path);
  await writeFile(path, `${receipt}\n`, { mode: FILE_MODE });
  return path;
}
