import type { HttpResponse } from 'uWebSockets.js';
import type { FarthingError } from '@farthing/protocol/error';
import type { RequestHead } from '../http/exchange/exchange.ts';
import { Following } from '../http/exchange/following.ts';
import type { Call, CarriedHead, ToFront, ToOwner } from './messages.ts';

/** Bytes of a body that are on their way to the owner at a time: of one request, and of all of a front. */
const UNREAD_BYTES_MAX = 256 * 1024;
const UNREAD_IN_ALL_MAX = 4 * 2 ** 20;

type Post = (message: ToOwner, moved?: ArrayBuffer[]) => void;

/** What a request is handed over with. */
export interface HandedOver {
  readonly head: RequestHead;
  readonly fault?: FarthingError | undefined;
  /** The first piece of the body, where it has come: the handler's own memory. */
  readonly piece?: ArrayBuffer;
  readonly last: boolean;
  readonly asks?: string | undefined;
}

/** Hands requests to the owner, and writes its answers. Bodies and answers flow as fast as the other side takes them. */
export class Relay {
  readonly #post: Post;
  readonly #running = new Map<number, Relayed>();
  readonly #full = new Set<Relayed>();
  #number = 0;
  /** Bytes that were posted, and that the owner has not read. */
  #unread = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  get running(): number {
    return this.#running.size;
  }

  /** To be called before the handler of the request, or of its first piece, returns. */
  handOver(response: HttpResponse, request: HandedOver): Relayed {
    this.#number += 1;
    const id = this.#number;
    const relayed = new Relayed(response, {
      onTaken: (bytes) => this.#post({ kind: 'taken', id, bytes }),
      onAborted: () => {
        this.#end(id, relayed);
        this.#post({ kind: 'aborted', id });
      },
      onEnded: () => this.#end(id, relayed),
    });
    this.#running.set(id, relayed);
    const { piece, last, asks, fault } = request;
    if (last) relayed.wait();
    const copy = piece && piece.byteLength > 0 ? piece.slice(0) : undefined;
    const head = carried(request.head, fault);
    const address = response.getRemoteAddress().slice(0);
    this.#post(
      {
        kind: 'begin',
        id,
        head,
        address,
        last,
        ...(copy && { piece: copy }),
        ...(asks !== undefined && { asks }),
      },
      copy ? [copy, address] : [address],
    );
    if (copy) this.#count(relayed, copy.byteLength, last);
    relayed.onPiece = (next, isLast) => {
      const moved = next.slice(0);
      const bytes = moved.byteLength;
      this.#post({ kind: 'piece', id, piece: moved, last: isLast }, [moved]);
      this.#count(relayed, bytes, isLast);
      if (isLast) relayed.wait();
    };
    return relayed;
  }

  hear(message: Extract<ToFront, { readonly id: number }>): void {
    const relayed = this.#running.get(message.id);
    if (!relayed) return;
    switch (message.kind) {
      case 'pause':
        relayed.pause();
        return;
      case 'resume':
        relayed.resume();
        return;
      case 'close':
        void relayed.close();
        return;
      case 'calls':
        relayed.perform(message.calls);
        return;
      case 'read':
        this.#read(relayed, message.bytes);
        return;
    }
  }

  #count(relayed: Relayed, bytes: number, last: boolean): void {
    // Nothing follows the last: its bytes need no room.
    if (last) return;
    this.#unread += bytes;
    relayed.unread += bytes;
    if (relayed.unread <= UNREAD_BYTES_MAX && this.#unread <= UNREAD_IN_ALL_MAX) return;
    relayed.setFull(true);
    this.#full.add(relayed);
  }

  #read(relayed: Relayed, bytes: number): void {
    this.#unread -= bytes;
    relayed.unread -= bytes;
    if (this.#unread > UNREAD_IN_ALL_MAX / 2) return;
    for (const each of this.#full) {
      if (each.unread > UNREAD_BYTES_MAX / 2) continue;
      this.#full.delete(each);
      each.setFull(false);
    }
  }

  #end(id: number, relayed: Relayed): void {
    this.#running.delete(id);
    this.#full.delete(relayed);
    this.#unread -= relayed.unread;
    relayed.unread = 0;
  }
}

interface RelayedEvents {
  /** The socket has taken bytes of the answer. */
  readonly onTaken: (bytes: number) => void;
  readonly onAborted: () => void;
  /** The answer is complete. */
  readonly onEnded: () => void;
}

/** One request that the owner answers. */
export class Relayed {
  /** Bytes of its body that the owner has not read. */
  unread = 0;
  /** The next pieces of its body. */
  onPiece: (piece: ArrayBuffer, last: boolean) => void = () => undefined;
  readonly #response: HttpResponse;
  readonly #events: RelayedEvents;
  #calls: Call[] = [];
  #isFull = false;
  #isPaused = false;
  /** The socket takes no more for now. */
  #isBlocked = false;
  #watches = false;
  /** Bytes that uWebSockets.js keeps until the socket takes them. */
  #kept = 0;
  #isOver = false;
  readonly #following = new Following();
  #hasBegun = false;
  /** The head says that the connection ends. */
  #saysClose = false;

  constructor(response: HttpResponse, events: RelayedEvents) {
    this.#response = response;
    this.#events = events;
    response.onAborted(() => {
      if (this.#isOver) return;
      this.#waitsNoMore();
      this.#isOver = true;
      this.#calls = [];
      events.onAborted();
    });
  }

  /** A piece of its body has come. After the answer it is dropped. */
  piece(piece: ArrayBuffer, last: boolean): void {
    if (!this.#isOver) this.onPiece(piece, last);
  }

  /** Its body has come whole. What comes behind it is noticed from now on, until its answer begins. */
  wait(): void {
    if (!this.#isOver && !this.#hasBegun) this.#following.wait(this.#response);
  }

  #waitsNoMore(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#following.begin();
  }

  setFull(isFull: boolean): void {
    const before = this.#stands;
    this.#isFull = isFull;
    this.#follow(before);
  }

  pause(): void {
    const before = this.#stands;
    this.#isPaused = true;
    this.#follow(before);
  }

  /** Also renews the connection's time-out. */
  resume(): void {
    this.#isPaused = false;
    if (!this.#isOver && !this.#stands) this.#read();
  }

  async close(): Promise<void> {
    this.#waitsNoMore();
    await this.#following.linger();
    if (!this.#isOver) this.#response.close();
  }

  perform(calls: readonly Call[]): void {
    if (this.#isOver) return;
    this.#calls.push(...calls);
    if (!this.#isBlocked) this.#proceed();
  }

  get #stands(): boolean {
    return this.#isFull || this.#isPaused;
  }

  #follow(before: boolean): void {
    if (this.#isOver || before === this.#stands) return;
    if (this.#stands) this.#response.pause();
    else this.#read();
  }

  #read(): void {
    if (this.#following.mayRead) this.#response.resume();
  }

  #proceed(): void {
    let taken = 0;
    let isEnded = false;
    let last: Call[0] | undefined;
    this.#response.cork(() => {
      while (this.#calls.length > 0 && !this.#isBlocked && !isEnded) {
        const call = this.#calls.shift()!;
        [last] = call;
        const [bytes, ended] = this.#make(call);
        taken += bytes;
        isEnded = ended;
      }
    });
    if (isEnded) {
      this.#isOver = true;
      // With `end` the library closes the connection, once what it has kept is sent.
      if (this.#following.isFollowed && last !== 'end') void this.#following.linger();
    }
    if (taken > 0) this.#events.onTaken(taken);
    if (isEnded) this.#events.onEnded();
  }

  /** @returns bytes that the socket has taken, and whether the answer is complete */
  #make(call: Call): [taken: number, ended: boolean] {
    const response = this.#response;
    switch (call[0]) {
      case 'status':
        this.#waitsNoMore();
        response.writeStatus(call[1]);
        return [0, false];
      case 'header':
        this.#saysClose ||= call[1] === 'Connection';
        response.writeHeader(call[1], call[2]);
        return [0, false];
      case 'write':
        this.#sayClose();
        if (response.write(call[1])) return [call[1].byteLength, false];
        this.#kept = call[1].byteLength;
        this.#block();
        return [0, false];
      case 'part':
        return this.#makePart(call[1], call[2]);
      case 'end':
        this.#flow();
        response.end(call[1], call[2] || this.#following.isFollowed);
        return [0, true];
      case 'headOnly':
        this.#flow();
        if (!call[2]) this.#sayClose();
        if (call[1] === undefined) response.endWithoutBody();
        else response.endWithoutBody(call[1], call[2]);
        return [0, true];
    }
  }

  /** In the head of an answer in parts, behind whose request another came. */
  #sayClose(): void {
    if (!this.#following.isFollowed || this.#saysClose) return;
    this.#saysClose = true;
    this.#response.writeHeader('Connection', 'close');
  }

  #makePart(bytes: Uint8Array, total: number): [taken: number, ended: boolean] {
    const response = this.#response;
    this.#sayClose();
    const start = response.getWriteOffset();
    if (start + bytes.byteLength >= total) this.#flow();
    const [hasRoom, isDone] = response.tryEnd(bytes, total);
    if (isDone) return [bytes.byteLength, true];
    const written = response.getWriteOffset() - start;
    if (hasRoom) return [written, false];
    if (written < bytes.byteLength) this.#calls.unshift(['part', bytes.subarray(written), total]);
    this.#block();
    return [written, false];
  }

  /** The rest of the body gets in, and the answer out. */
  #flow(): void {
    if (!this.#stands) return;
    this.#isFull = false;
    this.#isPaused = false;
    this.#read();
  }

  /** The handler is set once: one that is set while it runs would be lost. */
  #block(): void {
    this.#isBlocked = true;
    if (this.#watches) return;
    this.#watches = true;
    this.#response.onWritable(() => {
      if (this.#isOver) return true;
      this.#isBlocked = false;
      const kept = this.#kept;
      this.#kept = 0;
      if (kept > 0) this.#events.onTaken(kept);
      this.#proceed();
      return true;
    });
  }
}

function carried(
  { method, path, query, headers }: RequestHead,
  fault: FarthingError | undefined,
): CarriedHead {
  const pairs: string[] = [];
  for (const [name, value] of headers) pairs.push(name, value);
  return { method, path, query, headers: pairs, ...(fault && { fault: fault.detail }) };
}
