import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from '../rig/random.ts';

/** Faults that a relay inflicts on a piece of a connection. */
export interface RelayWeather {
  /** A piece waits up to so long; those behind it wait as well. */
  readonly delayMsMax: number;
  /** Probabilities, each of a piece. */
  readonly delayed: number;
  /** A question is not passed on, and its connection is cut. */
  readonly cutBefore: number;
  /** An answer is not passed on, and its connection is cut: what was asked has happened. */
  readonly cutAfter: number;
  /** Half of an answer is passed on, and its connection is cut. Absent: never. */
  readonly halved?: number;
  /** An answer is not passed on, and nothing is cut: who asked waits. */
  readonly silent: number;
}

export type RelayFault =
  | 'question cut'
  | 'answer cut'
  | 'answer halved'
  | 'answer withheld'
  | 'all connections cut';

/** A relay of TCP connections to one port of this machine, which delays what it carries, loses it, and cuts connections. */
export class Relay {
  readonly #server: Server;
  readonly #target: number;
  readonly #random: Random;
  readonly #weather: RelayWeather;
  readonly #onFault: (fault: RelayFault) => void;
  readonly #sockets = new Set<Socket>();

  static async start(parts: {
    readonly target: number;
    readonly random: Random;
    readonly weather: RelayWeather;
    readonly onFault: (fault: RelayFault) => void;
  }): Promise<Relay> {
    const relay = new Relay(parts);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  private constructor({ target, random, weather, onFault }: Parameters<typeof Relay.start>[0]) {
    this.#target = target;
    this.#random = random;
    this.#weather = weather;
    this.#onFault = onFault;
    this.#server = createServer((asking) => this.#carry(asking));
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Cuts every connection that there is; new ones are carried. */
  cutAll(): void {
    if (this.#sockets.size > 0) this.#onFault('all connections cut');
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #carry(asking: Socket): void {
    const asked = connect(this.#target, '127.0.0.1');
    const both = [asking, asked];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const cut = () => {
      for (const socket of both) socket.destroy();
    };
    const { cutBefore, cutAfter, halved = 0, silent } = this.#weather;
    this.#pass(asking, asked, () => {
      if (!this.#random.hits(cutBefore)) return 'pass';
      this.#onFault('question cut');
      cut();
      return 'lose';
    });
    let withheld = false;
    this.#pass(asked, asking, () => {
      if (withheld) return 'lose';
      if (this.#random.hits(silent)) {
        withheld = true;
        this.#onFault('answer withheld');
        return 'lose';
      }
      if (halved > 0 && this.#random.hits(halved)) {
        this.#onFault('answer halved');
        return 'halve';
      }
      if (!this.#random.hits(cutAfter)) return 'pass';
      this.#onFault('answer cut');
      cut();
      return 'lose';
    });
  }

  /** Pieces go on in order. What was sent before an end is still delivered, as a network does. */
  #pass(from: Socket, to: Socket, judge: () => 'pass' | 'lose' | 'halve'): void {
    const { delayed, delayMsMax } = this.#weather;
    let before = Promise.resolve();
    const then = (work: () => void) => {
      before = before.then(work);
    };
    from.on('data', (piece) => {
      const verdict = judge();
      if (verdict === 'lose') return;
      const passed = verdict === 'halve' ? piece.subarray(0, piece.length / 2) : piece;
      if (this.#random.hits(delayed)) {
        const milliseconds = this.#random.below(delayMsMax + 1);
        before = before.then(() => new Promise((resolve) => setTimeout(resolve, milliseconds)));
      }
      then(() => void (to.destroyed || to.write(passed)));
      if (verdict === 'halve') from.destroy();
    });
    from.on('close', () => then(() => to.end()));
  }
}
