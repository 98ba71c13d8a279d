import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Listens, and counts who connects: nobody may. */
export async function listenForNobody(): Promise<{
  readonly port: number;
  readonly connections: () => number;
  readonly close: () => void;
}> {
  let connections = 0;
  const trap = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const { port } = trap.address() as { port: number };
  return { port, connections: () => connections, close: () => void trap.close() };
}

/** Files that a data folder holds for no Item: what is left of what was refused. */
export function leftOver(data: string, tenant: string, items: readonly string[]): string[] {
  const inFolder = (...path: string[]): string[] => {
    const folder = join(data, ...path);
    return existsSync(folder) ? readdirSync(folder).map((name) => join(...path, name)) : [];
  };
  const stored = inFolder('tenants', tenant, 'files').filter(
    (path) => !items.some((item) => path.endsWith(`/${item}`)),
  );
  const scratch = inFolder('scratch').flatMap((lane) => inFolder(lane));
  return [...stored, ...inFolder('incoming'), ...scratch];
}

/** What the resident memory of a process and of its children is, in MiB. */
export function memoryOf(pid: number): { server: number; children: number } {
  return { server: resident(pid), children: Math.max(0, ...childrenOf(pid).map(resident)) };
}

function childrenOf(pid: number): number[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
}

function resident(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
