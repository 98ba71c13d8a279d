import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections: one of these may take a port while a server that had it is restarted. */
const [FIRST, LAST] = [12_000, 31_999];

/** Ports of this machine that nothing uses now, and that no connection takes by itself. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  return [...found];
}

/** The first of ports in a row that nothing uses now. */
export async function freePortsInRow(count: number): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count + 2));
    const free = await Promise.all(Array.from({ length: count }, (_, number) => isFree(first + number)));
    if (free.every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, '127.0.0.1');
  if (!(await free)) return false;
  await once(server.close(), 'close');
  return true;
}
