import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { Random } from '../rig/random.ts';

/** Shares of what passes, from 0 to 1. */
export interface Faults {
  /** A request that never arrives. */
  readonly requestLost: number;
  /** An answer of which nothing arrives. */
  readonly answerLost: number;
  /** An answer of which half arrives. */
  readonly answerCut: number;
  readonly delayed: number;
}

const DELAY_MS_MAX = 60;

/** A proxy on a free port that loses, cuts and delays what passes through it, by a seeded chance. */
export class FailingProxy {
  readonly url: string;
  faults = 0;
  readonly #random: Random;
  readonly #shares: Faults;

  static async start(
    t: Pick<Test, 'teardown'>,
    target: string,
    random: Random,
    shares: Faults,
  ): Promise<FailingProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        // Lost connections are what this is for.
        socket.on('error', () => undefined);
        socket.on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (piece: Buffer) => proxy.#request(client, upstream, piece));
      upstream.on('data', (piece: Buffer) => proxy.#answer(client, upstream, piece));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FailingProxy(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      random,
      shares,
    );
    t.teardown(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return proxy;
  }

  private constructor(url: string, random: Random, shares: Faults) {
    this.url = url;
    this.#random = random;
    this.#shares = shares;
  }

  #request(client: Socket, upstream: Socket, piece: Buffer): void {
    if (this.#random.hits(this.#shares.requestLost)) this.#cut(client);
    else upstream.write(piece);
  }

  #answer(client: Socket, upstream: Socket, piece: Buffer): void {
    if (this.#random.hits(this.#shares.answerLost)) this.#cut(client);
    else if (this.#random.hits(this.#shares.answerCut)) {
      client.write(piece.subarray(0, piece.length / 2), () => this.#cut(client));
    } else if (this.#random.hits(this.#shares.delayed)) {
      upstream.pause();
      setTimeout(() => {
        client.write(piece);
        upstream.resume();
      }, this.#random.below(DELAY_MS_MAX));
    } else client.write(piece);
  }

  #cut(client: Socket): void {
    this.faults += 1;
    client.destroy();
  }
}
