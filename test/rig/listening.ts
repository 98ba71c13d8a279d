import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Teardown } from './temporary-folder.ts';

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
