import type { Test } from 'tap';
import { Cors } from '../../../../src/server/http/exchange/cors.ts';
import { listen } from '../../../../src/server/http/exchange/server.ts';

type Routes = Parameters<typeof listen>[0]['routes'];

/** An HTTP server with these routes alone, which has no faults; closed when the test ends. @returns its port */
export async function serveRoutes(t: Test, routes: Routes): Promise<number> {
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    cors: new Cors([]),
    routes,
    onAnswered: () => undefined,
    onFault: (error) => t.fail(String(error)),
  });
  t.teardown(() => server.close());
  return server.port;
}
