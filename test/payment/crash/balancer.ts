import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A plain balancer of TCP connections: each goes to the next port that takes it. */
export class Balancer {
  readonly #server: Server;
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  #next = 0;

  /** @param ports of this machine */
  static async start(ports: readonly number[]): Promise<Balancer> {
    const balancer = new Balancer(ports);
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((client) => this.#carry(client, 1));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #carry(client: Socket, tries: number): void {
    this.#next = (this.#next + 1) % this.#ports.length;
    const server = connect(this.#ports[this.#next]!, '127.0.0.1');
    client.on('error', () => undefined);
    server.once('error', () => {
      if (tries < this.#ports.length) this.#carry(client, tries + 1);
      else client.destroy();
    });
    server.once('connect', () => {
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
      }
      client.pipe(server);
      server.pipe(client);
      server.on('close', () => client.destroy());
      client.on('close', () => server.destroy());
    });
  }
}
