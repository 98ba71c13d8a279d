import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Registry } from 'prom-client';

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** Names in `Host` that are answered, beside addresses, `localhost` and `host`. */
  readonly names: readonly string[];
}

/** A page whose name resolves to this host (DNS rebinding) must not read the metrics in its visitor's browser. */
function isAllowed(header: string | undefined, names: ReadonlySet<string>): boolean {
  const name = (header ?? '').toLowerCase().replace(/:\d{1,5}$/, '');
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || names.has(name);
}

/** Serves `/metrics` for Prometheus, apart from the agents' address. Unauthenticated: keep it on loopback. */
export async function serveMetrics(
  registry: Pick<Registry, 'metrics' | 'contentType'>,
  { host, port, names }: MetricsAddress,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const allowed = new Set(['localhost', host, ...names].map((name) => name.toLowerCase()));
  const server = createServer((request, answer) => {
    if (!isAllowed(request.headers.host, allowed)) {
      answer
        .writeHead(404, { 'Content-Type': 'text/plain' })
        .end('Not by this name: see FARTHING_METRICS_NAMES\n');
      return;
    }
    if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      answer.writeHead(404, { 'Content-Type': 'text/plain' }).end('GET /metrics\n');
      return;
    }
    registry.metrics().then(
      (text) => answer.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      (error: unknown) => answer.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
