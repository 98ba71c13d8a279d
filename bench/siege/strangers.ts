import { connect, type Socket } from 'node:net';
import { MEBIBYTE, type Target } from './requests.ts';

export interface Attack {
  /** Connections at a time. */
  readonly connections: number;
  /** Bytes that it may send, in MiB. */
  readonly mebibytes: number;
  /** The facilitator is remote and answers one call after the other, so many a second; the client pays for each search. */
  readonly facilitatorCallsPerSecond?: number;
  run(strangers: Strangers, target: Target): Promise<void>;
}

/** An attack that does one thing over and over on so many connections at a time. @param act gets a number of its own */
export function repeated(
  connections: number,
  mebibytes: number,
  act: (strangers: Strangers, target: Target, number: number) => Promise<void>,
): Attack {
  return {
    connections,
    mebibytes,
    run: (strangers, target) => {
      let number = 0;
      return strangers.each(connections, () => act(strangers, target, ++number));
    },
  };
}

/** Connections of one attacker, bounded in their bytes; they end with the attack. */
export class Strangers {
  readonly host: string;
  readonly port: number;
  readonly over: AbortSignal;
  /** Resolves once as many connections were begun as the attack has at a time. */
  readonly begun: Promise<void>;
  #toBegin: number;
  #allBegun!: () => void;
  #bytesLeft: number;
  readonly #open = new Set<Socket>();

  constructor(url: string, { connections, mebibytes }: Attack, over: AbortSignal) {
    const { hostname, port } = new URL(url);
    this.host = hostname;
    this.port = Number(port);
    this.over = over;
    this.#bytesLeft = mebibytes * MEBIBYTE;
    this.#toBegin = connections;
    this.begun = new Promise((resolve) => {
      this.#allBegun = resolve;
    });
    over.addEventListener('abort', () => {
      for (const socket of this.#open) socket.destroy();
    });
  }

  /** True until the attack is over, or has sent all that it may. */
  get goesOn(): boolean {
    return !this.over.aborted && this.#bytesLeft > 0;
  }

  /** Sends pieces one after the other, as fast as they are taken, on a new connection; resolves when that has ended. */
  async send(
    pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
    { reads = true }: { readonly reads?: boolean } = {},
  ): Promise<void> {
    this.#toBegin -= 1;
    if (this.#toBegin === 0) this.#allBegun();
    if (!this.goesOn) return;
    const socket = connect(this.port, this.host);
    this.#open.add(socket);
    socket.on('error', () => undefined);
    if (reads) socket.resume();
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    try {
      for await (const piece of pieces) {
        if (!this.goesOn || socket.destroyed) break;
        this.#bytesLeft -= piece.length;
        if (!socket.write(piece)) await Promise.race([drained(socket), closed]);
      }
      if (!this.goesOn) socket.destroy();
      await closed;
    } finally {
      this.#open.delete(socket);
      socket.destroy();
    }
  }

  /** Does something over and over, so many at a time. */
  async each(atOnce: number, act: () => Promise<void>): Promise<void> {
    const one = async () => {
      while (this.goesOn) await act();
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', () => resolve()));
}
