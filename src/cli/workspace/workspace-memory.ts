import { configFile, readJson, writeJson } from '../folders.ts';
import { type Io, UsageError } from '../io.ts';

export interface KnownWorkspace {
  readonly server: string;
  readonly token: string;
  readonly expires_at?: string;
}

/** Remembered workspaces and the current one. */
export interface WorkspaceMemory {
  readonly current: string | null;
  readonly known: Readonly<Record<string, KnownWorkspace>>;
}

const memoryFile = (io: Io) => configFile(io, 'workspaces.json');

export async function readMemory(io: Io): Promise<WorkspaceMemory> {
  return (await readJson<WorkspaceMemory>(memoryFile(io))) ?? { current: null, known: {} };
}

function writeMemory(io: Io, memory: WorkspaceMemory): Promise<void> {
  return writeJson(memoryFile(io), memory);
}

/** Remembers a workspace and makes it the current one. */
export async function remember(io: Io, id: string, workspace: KnownWorkspace): Promise<void> {
  const { known } = await readMemory(io);
  await writeMemory(io, { current: id, known: { ...known, [id]: workspace } });
}

/** Leaves no workspace current; all stay remembered. */
export async function useNone(io: Io): Promise<void> {
  await writeMemory(io, { ...(await readMemory(io)), current: null });
}

export async function forget(io: Io, id: string): Promise<void> {
  const { current, known } = await readMemory(io);
  const { [id]: _forgotten, ...left } = known;
  await writeMemory(io, { current: current === id ? null : current, known: left });
}

export function notRemembered(id: string): UsageError {
  return new UsageError(`The workspace ${id} is not remembered here: farthing workspace use ${id} TOKEN`);
}
