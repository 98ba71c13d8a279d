export interface FairQueueOptions<Entry> {
  /**
   * Entries that may wait at a time, shared by `hasRoom`: one owner alone has half, and the first entry of an owner finds room beside
   * any number of entries of a few others.
   */
  readonly waitingMax?: number;
  /** Entries that may be out at a time, each from `take` to `done`, and of one owner. */
  readonly takenMax?: number;
  readonly ownerTakenMax?: number;
  /**
   * What is quick: of `takenMax` one is kept for entries of at most this cost. Of owners that have had as much, the one with the smaller
   * entry comes first; an entry waits for others of this cost at most, and not longer.
   */
  readonly quickCost?: number;
  /** True for a cancelled entry. It is dropped when its turn comes, and costs its owner no turn. */
  readonly isCancelled?: (entry: Entry) => boolean;
}

interface Waiting<Entry> {
  readonly entry: Entry;
  /** What it will cost, where that is known. */
  readonly cost?: number;
}

/** What an owner has had. */
interface Account {
  /** Its costs. One that comes back starts no lower than those that are served. */
  used: number;
  taken: number;
  /** What its entries cost of late; undefined before the first. */
  usual?: number;
}

/** An entry that was taken. */
interface Out {
  readonly account: Account;
  readonly expected: number;
  readonly isQuick: boolean;
}

/** Accounts that are remembered before idle ones are forgotten. */
const REMEMBERED_MAX = 4096;
/** Of the newest cost in what is usual. */
const NEWEST = 0.3;

/**
 * The line under everything that is shared. It serves the owner that has had the least, by what its entries have cost, or by their number
 * where no costs are told. Who has had much waits only while others do. Entries of one owner stay in order. A bound that is absent is
 * infinite. Costs are of any unit.
 */
export class FairQueue<Entry extends object> {
  /** Waiting entries by owner; no list is empty. */
  readonly #waiting = new Map<string, Waiting<Entry>[]>();
  readonly #accounts = new Map<string, Account>();
  /** Those out, of a queue that bounds them. */
  readonly #out = new Map<Entry, Out>();
  readonly #options: FairQueueOptions<Entry>;
  #size = 0;
  #slowOut = 0;
  /** What the owner of the last entry had had by then. */
  #level = 0;
  #pruneAbove = REMEMBERED_MAX;

  constructor(options: FairQueueOptions<Entry> = {}) {
    this.#options = options;
  }

  /** Entries that wait. */
  get size(): number {
    return this.#size;
  }

  /** Owners with entries that wait. */
  get owners(): number {
    return this.#waiting.size;
  }

  /** Whether entries of others than an owner wait. */
  othersWait(owner: string): boolean {
    return this.#size > this.waitingOf(owner);
  }

  /** Entries of an owner that wait. */
  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  /** Entries that would be taken before the next one of an owner, at most, where all have had as much. */
  waitingBefore(owner: string): number {
    const own = this.waitingOf(owner);
    let before = 0;
    for (const [other, { length }] of this.#waiting)
      before += other === owner ? own : Math.min(length, own + 1);
    return before;
  }

  /**
   * @param cost what it will cost, if its size tells
   * @returns false, and adds nothing, when the owner has as many entries waiting as there is room for
   */
  push(owner: string, entry: Entry, cost?: number): boolean {
    const { waitingMax = Number.POSITIVE_INFINITY } = this.#options;
    const waiting = this.#waiting.get(owner);
    if (!hasRoom(waiting?.length ?? 0, this.#size, waitingMax)) return false;
    if (waiting) waiting.push({ entry, cost });
    else this.#begin(owner, { entry, cost });
    this.#size++;
    return true;
  }

  /** Makes an entry its owner's first again: the rest of one that was taken in part. It counts against no bound. @param cost as `push` has it */
  putBack(owner: string, entry: Entry, cost?: number): void {
    const waiting = this.#waiting.get(owner);
    if (waiting) waiting.unshift({ entry, cost });
    else this.#begin(owner, { entry, cost });
    this.#size++;
  }

  /**
   * The first entry of the owner that has had the least, or, of equal ones, has waited longest for its turn. An owner whose first entry
   * does not suit, or which has too many entries out, is passed over and keeps its turn.
   * @param onlyQuick whether what is not quick is passed over, too
   */
  take(suits: (entry: Entry) => boolean = () => true, onlyQuick = false): Entry | undefined {
    const { takenMax = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#out.size >= takenMax) return undefined;
    let next: { owner: string; waiting: Waiting<Entry>[]; account: Account; turn: number } | undefined;
    for (const [owner, waiting] of this.#waiting) {
      const account = this.#accounts.get(owner)!;
      if (next && account.used >= next.turn) continue;
      this.#dropCancelled(owner, waiting);
      const first = waiting[0];
      if (!first || !this.#mayGo(first, account) || (onlyQuick && !this.#isQuick(first, account))) continue;
      const turn = account.used + this.#headStart(first, account);
      if ((!next || turn < next.turn) && suits(first.entry)) next = { owner, waiting, account, turn };
    }
    return next && this.#give(next.owner, next.waiting, next.account);
  }

  /** An entry that was taken is finished. @param cost what it has cost; absent: what was expected */
  done(entry: Entry, cost?: number): void {
    const out = this.#out.get(entry);
    if (!out) return;
    this.#out.delete(entry);
    const { account, expected, isQuick } = out;
    if (!isQuick) this.#slowOut--;
    account.taken--;
    if (cost === undefined) return;
    account.used += cost - expected;
    account.usual = account.usual === undefined ? cost : NEWEST * cost + (1 - NEWEST) * account.usual;
  }

  /** Takes an entry out before its turn. @returns false when it is not waiting. */
  remove(owner: string, entry: Entry): boolean {
    const waiting = this.#waiting.get(owner) ?? [];
    const index = waiting.findIndex((each) => each.entry === entry);
    if (index < 0) return false;
    waiting.splice(index, 1);
    if (waiting.length === 0) this.#waiting.delete(owner);
    this.#size--;
    return true;
  }

  /** Takes out all entries that wait. */
  drain(): Entry[] {
    const entries = [...this.#waiting.values()].flat().map(({ entry }) => entry);
    this.#waiting.clear();
    this.#size = 0;
    return entries;
  }

  #begin(owner: string, first: Waiting<Entry>): void {
    this.#waiting.set(owner, [first]);
    const account = this.#accounts.get(owner);
    if (account) {
      account.used = Math.max(account.used, this.#level);
      return;
    }
    if (this.#accounts.size >= this.#pruneAbove) this.#forgetIdle();
    this.#accounts.set(owner, { used: this.#level, taken: 0 });
  }

  #mayGo(first: Waiting<Entry>, account: Account): boolean {
    const { takenMax, ownerTakenMax = Number.POSITIVE_INFINITY, quickCost } = this.#options;
    if (account.taken >= ownerTakenMax) return false;
    if (takenMax === undefined || quickCost === undefined || this.#slowOut < takenMax - 1) return true;
    return this.#isQuick(first, account);
  }

  /** By what its size tells and what its owner's usually cost: an owner without a history is believed where the size tells. */
  #isQuick({ cost }: Waiting<Entry>, { usual }: Account): boolean {
    const { quickCost = Number.POSITIVE_INFINITY } = this.#options;
    return Math.max(cost ?? 0, usual ?? cost ?? Number.POSITIVE_INFINITY) <= quickCost;
  }

  /** What others may have before an entry that costs as much. Where nothing tells its cost, it waits for no more than its turn. */
  #headStart(first: Waiting<Entry>, account: Account): number {
    const { quickCost = 0 } = this.#options;
    return first.cost === undefined && account.usual === undefined
      ? 0
      : Math.min(expectedOf(first, account), quickCost);
  }

  #give(owner: string, waiting: Waiting<Entry>[], account: Account): Entry {
    const first = waiting.shift()!;
    this.#size--;
    // Behind those who have had as much.
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    const expected = expectedOf(first, account);
    this.#level = account.used;
    account.used += expected;
    const { takenMax, ownerTakenMax } = this.#options;
    if (takenMax !== undefined || ownerTakenMax !== undefined) {
      const isQuick = this.#isQuick(first, account);
      this.#out.set(first.entry, { account, expected, isQuick });
      if (!isQuick) this.#slowOut++;
      account.taken++;
    }
    return first.entry;
  }

  /** One that has had no more than others is as good as a new one. The next pass waits until the number has doubled. */
  #forgetIdle(): void {
    for (const [owner, { used, taken }] of this.#accounts)
      if (taken === 0 && used <= this.#level && !this.#waiting.has(owner)) this.#accounts.delete(owner);
    this.#pruneAbove = Math.max(REMEMBERED_MAX, this.#accounts.size * 2);
  }

  /** Drops what was cancelled before the owner's first entry that was not. */
  #dropCancelled(owner: string, waiting: Waiting<Entry>[]): void {
    while (waiting[0] && this.#options.isCancelled?.(waiting[0].entry)) {
      waiting.shift();
      this.#size--;
    }
    if (waiting.length === 0) this.#waiting.delete(owner);
  }
}

/** What it costs at most by its size, or what its owner's usually cost, if that is less: `done` corrects it. */
const expectedOf = ({ cost }: Waiting<object>, { usual }: Account): number =>
  Math.min(cost ?? usual ?? 1, usual ?? Number.POSITIVE_INFINITY);

/** How fast room becomes scarce for those who hold some. */
const SCARCITY = 4;

/**
 * Whether an owner that holds so much of what all may hold gets one more. One alone has half, and the fuller it is, the less the next
 * have: `held < max / 2 · (free / (max / 2)) ^ 4`. So the last `(max / 2) ^ (3 / 4)` places are for first entries: an owner that holds
 * nothing is refused only while at least so many owners hold something, in whatever waves they came (64 of 512 places, 107 of 1024).
 */
export function hasRoom(held: number, heldInAll: number, max: number): boolean {
  if (max === Number.POSITIVE_INFINITY) return true;
  const free = max - heldInAll;
  return free > 0 && held < (max / 2) * (free / (max / 2)) ** SCARCITY;
}
