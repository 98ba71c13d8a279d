import { UsageError } from '../commands/command-set.ts';
import type { Io } from '../terminal/io.ts';
import { configFile, readJson, writeJson } from './folders.ts';

export interface KnownWorkspace {
  readonly server: string;
  readonly token: string;
  readonly expires_at?: string;
}

/** How a workspace ended. */
export type End = 'destroyed' | 'time over';

/** An ended workspace: why it cannot be used, and what its receipt needs. */
export interface EndedWorkspace {
  readonly server: string;
  readonly token?: string;
  readonly ended: End;
  /** RFC 3339. */
  readonly at: string;
}

/** Remembered workspaces, and of each server the current one. */
export interface WorkspaceMemory {
  /** Where a workspace was last made current. */
  readonly server?: string;
  /** Ids by server. */
  readonly current: Readonly<Record<string, string>>;
  readonly known: Readonly<Record<string, KnownWorkspace | EndedWorkspace>>;
}

const memoryFile = (io: Io) => configFile(io, 'workspaces.json');

export async function readMemory(io: Io): Promise<WorkspaceMemory> {
  return (await readJson<WorkspaceMemory>(memoryFile(io))) ?? { current: {}, known: {} };
}

/** Forgets ended workspaces without a token that are not current. */
function writeMemory(io: Io, { server, current, known }: WorkspaceMemory): Promise<void> {
  const kept = Object.entries(known).filter(
    ([id, workspace]) =>
      !('ended' in workspace) || workspace.token !== undefined || current[workspace.server] === id,
  );
  return writeJson(memoryFile(io), { server, current, known: Object.fromEntries(kept) });
}

/** Remembers a workspace. The current one stays what it is. */
export async function remember(io: Io, id: string, workspace: KnownWorkspace): Promise<void> {
  const memory = await readMemory(io);
  await writeMemory(io, { ...memory, known: { ...memory.known, [id]: workspace } });
}

/** Remembers a workspace and makes it the current one of its server. */
export async function makeCurrent(io: Io, id: string, workspace: KnownWorkspace): Promise<void> {
  const { current, known } = await readMemory(io);
  const { server } = workspace;
  await writeMemory(io, {
    server,
    current: { ...current, [server]: id },
    known: { ...known, [id]: workspace },
  });
}

/** Leaves no workspace of a server current; all stay remembered. */
export async function useNone(io: Io, server: string): Promise<void> {
  const memory = await readMemory(io);
  const { [server]: _former, ...current } = memory.current;
  await writeMemory(io, { ...memory, server, current });
}

/** If it is the current one it stays so: what is meant for it must not be paid by the call instead. */
export async function markEnded(io: Io, id: string, ended: End): Promise<void> {
  const memory = await readMemory(io);
  const known = memory.known[id];
  if (!known) return;
  const { server, token } = known;
  const at = new Date().toISOString();
  const workspace: EndedWorkspace = { server, ended, at, ...(ended === 'time over' && { token }) };
  await writeMemory(io, { ...memory, known: { ...memory.known, [id]: workspace } });
}

export function notRemembered(id: string): UsageError {
  return new UsageError(`The workspace ${id} is not remembered here: farthing workspace use ${id} TOKEN`);
}
