import { FarthingError } from '@farthing/protocol/error';
import { FairQueue } from '@farthing/queues/fair-queue';

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
/**
 * The same once its sender has had requests waiting for a second, though some were served: the server is overloaded, and waiting
 * helps nobody. The count distinguishes this from a process that was paused.
 */
export const OVERLOADED_WAIT_MS_MAX = 100;
export const OVERLOADED_AFTER_MS = 1000;
const OVERLOADED_AFTER = 16;
/**
 * Once its oldest request with credentials has waited for so long, a sender's newest goes first: under overload those that are answered
 * have hardly waited, and a burst is answered whole in either order.
 */
const NEWEST_FIRST_MS = 50;
/** A refusal is much cheaper than a request. */
const REFUSED_PER_TURN_MAX = 64;

/** When a request may begin. */
export type Place =
  | 'now'
  /** Now, as the last of this turn: the connection ends with its answer. */
  | 'last'
  /** In a later turn. */
  | 'later';

interface Waiting {
  readonly sender: string;
  /** Time of the clock; infinite for one that may wait for any time. */
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (error: FarthingError) => void;
}

/** A sender some of whose requests wait. */
interface Sender {
  /** Since when some have waited. */
  readonly since: number;
  /** How many have left the queue since then. */
  served: number;
}

/**
 * Bounds the requests that begin in one turn of the event loop, so that pipelining and many connections do not delay others. The last
 * request of a full turn ends its connection if it has no credentials; later ones wait for the next turns, in a queue that is fair
 * among senders, and nothing overtakes them. Under overload, requests with credentials are refused after two seconds, or waits would grow
 * without end. The others are cheap, and a refused health check would make a supervisor end a busy server.
 */
export class FairAcceptor {
  readonly #queue = new FairQueue<Waiting>({
    waitingMax: WAITING_MAX,
    newestFirst: ({ sender, since }) => {
      const waited = this.#loopAt - since;
      return waited > NEWEST_FIRST_MS && waited <= this.#waitMsMaxOf(sender);
    },
  });
  readonly #senders = new Map<string, Sender>();
  readonly #now: () => number;
  #number = 0;
  #weight = 0;
  /** Remote address of the turn's first request with credentials. */
  #address: string | undefined;
  #isOfOneAddress = true;
  #ending = false;
  /** Time at the end of this turn. */
  #loopAt = 0;

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
    if (this.#weight >= WEIGHT_PER_TURN_MAX || this.#queue.size > 0) return 'later';
    this.#weight += hasCredentials ? WEIGHT_WITH_CREDENTIALS : 1;
    return this.#weight >= WEIGHT_PER_TURN_MAX ? 'last' : 'now';
  }

  /**
   * Resolves in the first later turn that has room. Rejects with `overloaded` if too many wait, or after `WAIT_MS_MAX` with credentials.
   * @param sender the queue is fair among senders; requests of one sender wait for each other
   */
  enter(sender: string, hasCredentials = false): Promise<void> {
    return new Promise((begin, refuse) => {
      const now = this.#now();
      const since = hasCredentials ? now : Number.POSITIVE_INFINITY;
      if (!this.#queue.enter(sender, { sender, since, begin, refuse })) return refuse(tooMany());
      if (!this.#senders.has(sender)) this.#senders.set(sender, { since: now, served: 0 });
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
    this.#loopAt = this.#now();
    const begun = new Map<string, number>();
    const mayBegin = ({ sender }: Waiting) => (begun.get(sender) ?? 0) < OF_SENDER_PER_TURN_MAX;
    let [count, refused] = [0, 0];
    while (count < WAITING_PER_TURN_MAX && refused < REFUSED_PER_TURN_MAX) {
      const next = this.#queue.take(mayBegin);
      if (!next) break;
      const { sender, since, begin, refuse } = next;
      const isLate = this.#loopAt - since > this.#waitMsMaxOf(sender);
      this.#countServed(sender);
      if (isLate) {
        refused += 1;
        refuse(tooMany());
        continue;
      }
      count += 1;
      begun.set(sender, (begun.get(sender) ?? 0) + 1);
      this.#weight += WEIGHT_WITH_CREDENTIALS;
      begin();
    }
    if (begun.size > 0 || refused > 0) this.#endLater();
  }

  #waitMsMaxOf(sender: string): number {
    const { since, served } = this.#senders.get(sender)!;
    const isOverloaded = this.#loopAt - since > OVERLOADED_AFTER_MS && served >= OVERLOADED_AFTER;
    return isOverloaded ? OVERLOADED_WAIT_MS_MAX : WAIT_MS_MAX;
  }

  #countServed(sender: string): void {
    if (this.#queue.waitingOf(sender) === 0) this.#senders.delete(sender);
    else this.#senders.get(sender)!.served += 1;
  }
}

function tooMany(): FarthingError {
  return new FarthingError('overloaded', 'Too many requests wait to be answered. Try again in a moment.', {
    retryAfterS: 1,
  });
}
