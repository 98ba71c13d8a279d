import { FarthingError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/sharing/fair-queue.ts';

/** uWebSockets.js hands over all requests of one read within one turn of the event loop, and many reads. */
const WEIGHT_PER_TURN_MAX = 16;
/** Weight of a request with a payment or token, which is decoded, checked and looked up. */
const WEIGHT_WITH_CREDENTIALS = 4;
/** Waiting requests that begin in one turn, in all and of one sender. */
const WAITING_PER_TURN_MAX = 8;
const OF_SENDER_PER_TURN_MAX = 2;
/** Requests that may wait at a time; each takes a few kilobytes. */
const WAITING_MAX = 16_384;
/** A request with credentials that has waited for longer is refused. */
export const WAIT_MS_MAX = 2000;
/** A refusal is much cheaper than a request. */
const REFUSED_PER_TURN_MAX = 64;

/** What a request may do in this turn of the event loop. */
export type Place =
  | 'now'
  /** Now, as the last of this turn: the connection ends with its answer. */
  | 'last'
  /** In a later turn. */
  | 'later';

interface Waiting {
  readonly sender: string;
  /** Time of the clock after which it is refused. */
  readonly until: number;
  readonly begin: () => void;
  readonly refuse: (error: FarthingError) => void;
}

/**
 * Bounds the requests that begin in one turn of the event loop, so that pipelining and many connections do not delay
 * others. The last request of a full turn ends its connection if it has no credentials; later ones wait for the next turns, senders in
 * turn, and nothing overtakes them. Under overload, requests with credentials are refused after two seconds, or waits would grow
 * without end. The others are cheap, and a refused health check would make a supervisor end a busy server.
 */
export class Turns {
  readonly #waiting = new FairQueue<Waiting>({ waitingMax: WAITING_MAX });
  readonly #now: () => number;
  #number = 0;
  #weight = 0;
  /** Remote address of the turn's first request with credentials. */
  #address: string | undefined;
  #isOfOneAddress = true;
  #ending = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Number of the current turn. */
  get number(): number {
    return this.#number;
  }

  /** False once requests with credentials have come from several addresses in this turn, so from several reads. */
  get isOfOneAddress(): boolean {
    return this.#isOfOneAddress;
  }

  /** Places a new request. @param address remote address of a request with credentials */
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
   * Resolves in the first later turn that has room. Rejects with `overloaded` if too many wait, or after `WAIT_MS_MAX` with credentials.
   * @param sender senders take turns; requests of one sender wait for each other
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
