import { FarthingError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/sharing/fair-queue.ts';

/** uWebSockets.js hands over all requests of one read within one turn of the event loop, and many reads. */
const WEIGHT_PER_TURN_MAX = 16;
/** Of a request that brings a payment or a token: it is decoded, checked and looked up. */
const WEIGHT_WITH_CREDENTIALS = 4;
/** Requests that waited for their turn and begin in one, and of these, those of one sender. */
const WAITING_PER_TURN_MAX = 8;
const OF_SENDER_PER_TURN_MAX = 2;
/** Requests that wait at a time, a few kilobytes each; and how long one with credentials does before it is refused. */
const WAITING_MAX = 16_384;
export const WAIT_MS_MAX = 2000;
/** To refuse takes a fraction of what a request takes. */
const REFUSED_PER_TURN_MAX = 64;

/** What a request may do in this turn of the event loop. */
export type Place =
  | 'now'
  /** Now, and it is the last that does: no other of its read begins in this turn. */
  | 'last'
  /** In a later turn. */
  | 'later';

interface Waiting {
  readonly sender: string;
  /** By the clock; later it is refused. */
  readonly until: number;
  readonly begin: () => void;
  readonly refuse: (error: FarthingError) => void;
}

/**
 * Bounds the requests that begin in one turn of the event loop, so that pipelining and many connections do not delay
 * others. The last request of a full turn ends its connection if it has no credentials; the others that came in the same turn wait for
 * the next ones, senders in turn. While some wait, none passes them. If requests come faster than they are answered, those with credentials are refused after
 * two seconds: otherwise waits would grow without end. The others are cheap, and a probe that is refused ends a server that is full.
 */
export class Turns {
  readonly #waiting = new FairQueue<Waiting>({ waitingMax: WAITING_MAX });
  readonly #now: () => number;
  #number = 0;
  #weight = 0;
  /** Whence the turn's first request with credentials came. */
  #address: string | undefined;
  #isOfOneAddress = true;
  #ending = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Of the turn that runs. */
  get number(): number {
    return this.#number;
  }

  /** False once requests with credentials have come from several addresses in this turn: they are not of one read then. */
  get isOfOneAddress(): boolean {
    return this.#isOfOneAddress;
  }

  /** A request came: its place in this turn. @param address whence, of one with credentials */
  place(address?: string): Place {
    const hasCredentials = address !== undefined;
    this.#endLater();
    if (hasCredentials) {
      this.#address ??= address;
      this.#isOfOneAddress &&= this.#address === address;
    }
    if (this.#weight >= WEIGHT_PER_TURN_MAX || this.#waiting.size > 0) return 'later';
    this.#weight += hasCredentials ? WEIGHT_WITH_CREDENTIALS : 1;
    return this.#weight >= WEIGHT_PER_TURN_MAX ? 'last' : 'now';
  }

  /**
   * Resolves in the first later turn that has room. Rejects with `overloaded` where too many wait, or one with credentials did for too long.
   * @param sender those of one wait for each other; senders take turns
   */
  next(sender: string, hasCredentials = false): Promise<void> {
    return new Promise((begin, refuse) => {
      const until = hasCredentials ? this.#now() + WAIT_MS_MAX : Number.POSITIVE_INFINITY;
      const waits = this.#waiting.push(sender, { sender, until, begin, refuse });
      if (!waits) refuse(tooMany());
    });
  }

  #endLater(): void {
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#ending = false;
    this.#number += 1;
    this.#weight = 0;
    this.#address = undefined;
    this.#isOfOneAddress = true;
    const begun = new Map<string, number>();
    const hasPlace = ({ sender }: Waiting) => (begun.get(sender) ?? 0) < OF_SENDER_PER_TURN_MAX;
    const now = this.#now();
    let [count, refused] = [0, 0];
    while (count < WAITING_PER_TURN_MAX && refused < REFUSED_PER_TURN_MAX) {
      const next = this.#waiting.take(hasPlace);
      if (!next) break;
      if (now > next.until) {
        next.refuse(tooMany());
        refused += 1;
        continue;
      }
      count += 1;
      begun.set(next.sender, (begun.get(next.sender) ?? 0) + 1);
      this.#weight += WEIGHT_WITH_CREDENTIALS;
      next.begin();
    }
    if (begun.size > 0 || refused > 0) this.#endLater();
  }
}

function tooMany(): FarthingError {
  return new FarthingError('overloaded', 'Too many requests wait to be answered. Try again in a moment.', {
    retryAfterS: 1,
  });
}
