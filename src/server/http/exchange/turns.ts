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
 * The same once its sender's line has not been empty for a second, though some have left it: more comes than can be answered, and waiting
 * helps nobody. The number tells this from a process that stood still.
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

/** What a request may do in this turn of the event loop. */
export type Place =
  | 'now'
  /** Now, as the last of this turn: the connection ends with its answer. */
  | 'last'
  /** In a later turn. */
  | 'later';

interface Waiting {
  /** Time of the clock; infinite for one that may wait for any time. */
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (error: FarthingError) => void;
}

/** What waits of one sender. */
interface Line {
  /** Since when it has not been empty. */
  readonly since: number;
  /** How many have left it since then. */
  left: number;
  /** The oldest first; never empty. */
  readonly waiting: Waiting[];
}

/**
 * Bounds the requests that begin in one turn of the event loop, so that pipelining and many connections do not delay
 * others. The last request of a full turn ends its connection if it has no credentials; later ones wait for the next turns, senders in
 * turn, and nothing overtakes them. Under overload, requests with credentials are refused after two seconds, or waits would grow
 * without end. The others are cheap, and a refused health check would make a supervisor end a busy server.
 */
export class Turns {
  /** One entry for each request that waits. */
  readonly #senders = new FairQueue<{ readonly sender: string }>({ waitingMax: WAITING_MAX });
  readonly #lines = new Map<string, Line>();
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
    if (this.#weight >= WEIGHT_PER_TURN_MAX || this.#senders.size > 0) return 'later';
    this.#weight += hasCredentials ? WEIGHT_WITH_CREDENTIALS : 1;
    return this.#weight >= WEIGHT_PER_TURN_MAX ? 'last' : 'now';
  }

  /**
   * Resolves in the first later turn that has room. Rejects with `overloaded` if too many wait, or after `WAIT_MS_MAX` with credentials.
   * @param sender senders take turns; requests of one sender wait for each other
   */
  next(sender: string, hasCredentials = false): Promise<void> {
    return new Promise((begin, refuse) => {
      if (!this.#senders.push(sender, { sender })) return refuse(tooMany());
      const now = this.#now();
      const line = this.#lines.get(sender) ?? { since: now, left: 0, waiting: [] };
      line.waiting.push({ since: hasCredentials ? now : Number.POSITIVE_INFINITY, begin, refuse });
      this.#lines.set(sender, line);
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
    const hasPlace = ({ sender }: { sender: string }) => (begun.get(sender) ?? 0) < OF_SENDER_PER_TURN_MAX;
    const now = this.#now();
    let [count, refused] = [0, 0];
    while (count < WAITING_PER_TURN_MAX && refused < REFUSED_PER_TURN_MAX) {
      const next = this.#senders.take(hasPlace);
      if (!next) break;
      const { sender } = next;
      const begin = this.#take(sender, now);
      if (!begin) {
        refused += 1;
        continue;
      }
      count += 1;
      begun.set(sender, (begun.get(sender) ?? 0) + 1);
      this.#weight += WEIGHT_WITH_CREDENTIALS;
      begin();
    }
    if (begun.size > 0 || refused > 0) this.#endLater();
  }

  /** Takes out a sender's next request. @returns undefined where it had waited too long, and is refused */
  #take(sender: string, now: number): (() => void) | undefined {
    const line = this.#lines.get(sender)!;
    const { since, waiting } = line;
    const isOverloaded = now - since > OVERLOADED_AFTER_MS && line.left >= OVERLOADED_AFTER;
    const waitMsMax = isOverloaded ? OVERLOADED_WAIT_MS_MAX : WAIT_MS_MAX;
    line.left += 1;
    const waited = now - waiting[0]!.since;
    const isNewestFirst = waited > NEWEST_FIRST_MS && waited <= waitMsMax;
    const { begin, refuse } = (isNewestFirst ? waiting.pop() : waiting.shift())!;
    if (waiting.length === 0) this.#lines.delete(sender);
    if (waited <= waitMsMax) return begin;
    refuse(tooMany());
    return undefined;
  }
}

function tooMany(): FarthingError {
  return new FarthingError('overloaded', 'Too many requests wait to be answered. Try again in a moment.', {
    retryAfterS: 1,
  });
}
