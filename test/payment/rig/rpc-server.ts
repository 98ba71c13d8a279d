import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves JSON-RPC by one function. @param answer gives the members `result` or `error` */
export async function serveRpc(
  answer: (method: string, params: [Record<string, string>, unknown]) => object,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { method, params } = JSON.parse((await request.toArray()).join(''));
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer(method, params) }));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
