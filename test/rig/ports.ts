import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Teardown } from './temporary-folder.ts';

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

/** Has a server listen on this machine until the test is over, which cuts its connections. @param scheme of the address */
export async function listening(
  t: Teardown,
  server: Server,
  scheme = 'http',
): Promise<{ readonly port: number; readonly url: string }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, url: `${scheme}://127.0.0.1:${port}` };
}
