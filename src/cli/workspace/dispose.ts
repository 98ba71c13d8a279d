import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DisposalAnswer, FarthingError, Workspace } from '../../client/index.ts';
import { inWorkspace } from '../access/access.ts';
import { makeFolder, stateFile } from '../access/folders.ts';
import { markEnded } from '../access/workspace-memory.ts';
import { counted, durationText } from '../terminal/figures.ts';
import { EXIT, type Io, UsageError } from '../terminal/io.ts';
import { say } from '../terminal/say.ts';
import type { Call } from '../words/specs.ts';
import { openWorkspace } from './workspace.ts';

const FILE_MODE = 0o600;

/** `workspace dispose [ID]`: asks, destroys, and keeps the verified receipt. */
export async function workspaceDispose(
  { words, values }: Call<'workspace dispose'>,
  io: Io,
): Promise<number> {
  const access = await openWorkspace(words, values, io);
  const { workspace } = access;
  const { items, ttl_seconds_left } = await inWorkspace(access, io, () => workspace.usage());
  const content = `${counted(items, 'file')}, ${durationText(ttl_seconds_left)} left`;
  if (!values.yes) {
    const answer = io.ask(`Destroy ${workspace.id} (${content})? Nothing of it can be brought back. [y/N] `);
    if (!answer)
      throw new UsageError(
        `This destroys ${workspace.id} (${content}) for good, and there is no terminal to ask at: --yes does it.`,
      );
    if (!(await answer)) {
      say(io, 'Nothing was destroyed.');
      return EXIT.done;
    }
  }
  const { disposal, doubt } = await dispose(workspace);
  await markEnded(io, workspace.id, 'destroyed');
  const path = await keepReceipt(io, disposal);
  if (values.json) io.write(`${JSON.stringify({ ...disposal, file: path })}\n`);
  else
    io.write(
      `${workspace.id} is destroyed: ${counted(items, 'file')} and all that was found in ${items === 1 ? 'it' : 'them'} are gone.\n`,
    );
  if (doubt) throw doubt;
  if (!values.json) say(io, `The signed receipt, checked, is in ${path}.`);
  return EXIT.done;
}

/** The data is destroyed even where the receipt is in doubt. */
async function dispose(workspace: Workspace): Promise<{ disposal: DisposalAnswer; doubt?: FarthingError }> {
  try {
    return { disposal: await workspace.dispose() };
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
