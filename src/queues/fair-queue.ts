export interface FairQueueOptions<Entry> {
  /**
   * Entries that may wait at a time, shared by `hasRoom`: one owner alone has half, and the first entry of an owner finds room beside
   * any number of entries of a few others.
   */
  readonly waitingMax?: number;
  /** Entries that may be inside at a time, each from `take` to `leave`, and of one owner. A bound that adapts is read at each `take`. */
  readonly insideMax?: number | { readonly value: number };
  readonly ownerInsideMax?: number;
  /**
   * One place inside is kept for entries of at most this cost. Among owners that have had as much, the one with the smaller entry
   * comes first. An entry waits for others of this cost at most, and not longer.
   */
  readonly quickCost?: number;
  /** True for a cancelled entry. It is dropped when its turn comes, and costs its owner no turn. */
  readonly isCancelled?: (entry: Entry) => boolean;
  /** Whether an owner's newest entry goes before this one, its oldest. Absent: the oldest goes first. */
  readonly newestFirst?: (oldest: Entry) => boolean;
}

interface Waiting<Entry> {
  readonly entry: Entry;
  /** The expected cost, where it is known. */
  readonly cost: number | undefined;
}

/** The costs of one owner's entries. */
interface Account {
  /** Sum of the costs. An owner that comes back starts no lower than those that are served. */
  used: number;
  inside: number;
  /** Moving average of its entries; undefined before the first. */
  averageCost?: number;
}

/** An entry that was taken and has not left. */
interface Leased {
  readonly account: Account;
  readonly expected: number;
  readonly isQuick: boolean;
}

/** Accounts that are remembered before idle ones are forgotten. */
const REMEMBERED_MAX = 4096;
/** Weight of the newest cost in the moving average. */
const NEWEST = 0.3;

/**
 * Fair queue by cost. It serves the owner whose entries have cost the least, or were the fewest where no costs are given. A heavy owner
 * waits only while others have entries. Entries of one owner stay in order. A bound that is absent is infinite. Costs are of any unit.
 *
 *     enter ──→ waiting ── take ──→ inside ──→ leave, with its cost
 *       │          └──→ leave, before its turn
 *       └──→ refused: no room for more of this owner
 */
export class FairQueue<Entry extends object> {
  /** Waiting entries by owner; no list is empty. */
  readonly #waiting = new Map<string, Waiting<Entry>[]>();
  readonly #accounts = new Map<string, Account>();
  /** Entries inside, of a queue that bounds them. */
  readonly #leased = new Map<Entry, Leased>();
  readonly #options: FairQueueOptions<Entry>;
  #size = 0;
  #slowInside = 0;
  /** Costs of the last entry's owner, when it was taken. */
  #level = 0;
  #pruneAbove = REMEMBERED_MAX;

  constructor(options: FairQueueOptions<Entry> = {}) {
    this.#options = options;
  }

  /** Entries that wait. */
  get size(): number {
    return this.#size;
  }

  /** Entries inside, of a queue that bounds them. */
  get inside(): number {
    return this.#leased.size;
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

  /** @param cost the expected cost @returns false where it is refused: there is no room for another entry of the owner */
  enter(owner: string, entry: Entry, cost?: number): boolean {
    const { waitingMax = Number.POSITIVE_INFINITY } = this.#options;
    if (!hasRoom(this.waitingOf(owner), this.#size, waitingMax)) return false;
    this.#listOf(owner).push({ entry, cost });
    this.#size++;
    return true;
  }

  /** Makes an entry its owner's first again: the rest of one that was taken in part. It counts against no bound. */
  enterAgain(owner: string, entry: Entry, cost?: number): void {
    this.#listOf(owner).unshift({ entry, cost });
    this.#size++;
  }

  /**
   * The next entry of the owner that has had the least, or, among equal ones, has waited longest for its turn. An owner whose first
   * entry does not suit, or which has too many entries inside, is passed over and keeps its turn.
   * @param onlyQuick whether what is not quick is passed over, too
   */
  take(suits: (entry: Entry) => boolean = () => true, onlyQuick = false): Entry | undefined {
    if (this.#leased.size >= this.#insideMax) return undefined;
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
    return next && this.#lease(next.owner, next.waiting, next.account);
  }

  /**
   * An entry inside has ended, or one that waits gives up its turn.
   * @param cost what an entry inside has cost; absent: as expected
   * @returns whether it waited
   */
  leave(entry: Entry, cost?: number): boolean {
    const leased = this.#leased.get(entry);
    if (!leased) return this.#leaveWaiting(entry);
    this.#leased.delete(entry);
    const { account, expected, isQuick } = leased;
    if (!isQuick) this.#slowInside--;
    account.inside--;
    if (cost === undefined) return false;
    // Of an owner's first entry nothing is given back: who is new would come twice before who waits.
    const isFirst = account.averageCost === undefined;
    account.used += isFirst ? Math.max(0, cost - expected) : cost - expected;
    account.averageCost =
      account.averageCost === undefined ? cost : NEWEST * cost + (1 - NEWEST) * account.averageCost;
    return false;
  }

  /** All entries that wait leave. */
  drain(): Entry[] {
    const entries = [...this.#waiting.values()].flat().map(({ entry }) => entry);
    this.#waiting.clear();
    this.#size = 0;
    return entries;
  }

  get #insideMax(): number {
    const { insideMax = Number.POSITIVE_INFINITY } = this.#options;
    return typeof insideMax === 'number' ? insideMax : insideMax.value;
  }

  #listOf(owner: string): Waiting<Entry>[] {
    const known = this.#waiting.get(owner);
    if (known) return known;
    const waiting: Waiting<Entry>[] = [];
    this.#waiting.set(owner, waiting);
    const account = this.#accounts.get(owner);
    if (account) account.used = Math.max(account.used, this.#level);
    else {
      if (this.#accounts.size >= this.#pruneAbove) this.#forgetIdle();
      this.#accounts.set(owner, { used: this.#level, inside: 0 });
    }
    return waiting;
  }

  #leaveWaiting(entry: Entry): boolean {
    for (const [owner, waiting] of this.#waiting) {
      const index = waiting.findIndex((each) => each.entry === entry);
      if (index < 0) continue;
      waiting.splice(index, 1);
      if (waiting.length === 0) this.#waiting.delete(owner);
      this.#size--;
      return true;
    }
    return false;
  }

  #mayGo(first: Waiting<Entry>, account: Account): boolean {
    const { insideMax, ownerInsideMax = Number.POSITIVE_INFINITY, quickCost } = this.#options;
    if (account.inside >= ownerInsideMax) return false;
    if (insideMax === undefined || quickCost === undefined || this.#slowInside < this.#insideMax - 1)
      return true;
    return this.#isQuick(first, account);
  }

  /** By its size and its owner's average: an owner without a history is believed where the size is known. */
  #isQuick({ cost }: Waiting<Entry>, { averageCost }: Account): boolean {
    const { quickCost = Number.POSITIVE_INFINITY } = this.#options;
    return Math.max(cost ?? 0, averageCost ?? cost ?? Number.POSITIVE_INFINITY) <= quickCost;
  }

  /** Cost that others may have before this entry. One of unknown cost waits for no more than its turn. */
  #headStart(first: Waiting<Entry>, account: Account): number {
    const { quickCost = 0 } = this.#options;
    return first.cost === undefined && account.averageCost === undefined
      ? 0
      : Math.min(expectedOf(first, account), quickCost);
  }

  #lease(owner: string, waiting: Waiting<Entry>[], account: Account): Entry {
    const { insideMax, ownerInsideMax, newestFirst } = this.#options;
    const next = (newestFirst?.(waiting[0]!.entry) ? waiting.pop() : waiting.shift())!;
    this.#size--;
    // Behind those who have had as much.
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    const expected = expectedOf(next, account);
    this.#level = account.used;
    account.used += expected;
    if (insideMax !== undefined || ownerInsideMax !== undefined) {
      const isQuick = this.#isQuick(next, account);
      this.#leased.set(next.entry, { account, expected, isQuick });
      if (!isQuick) this.#slowInside++;
      account.inside++;
    }
    return next.entry;
  }

  /** An owner that has had no more than others is as good as a new one. The next pass waits until the number has doubled. */
  #forgetIdle(): void {
    for (const [owner, { used, inside }] of this.#accounts)
      if (inside === 0 && used <= this.#level && !this.#waiting.has(owner)) this.#accounts.delete(owner);
    this.#pruneAbove = Math.max(REMEMBERED_MAX, this.#accounts.size * 2);
  }

  /** Drops cancelled entries before the owner's first that is not. */
  #dropCancelled(owner: string, waiting: Waiting<Entry>[]): void {
    while (waiting[0] && this.#options.isCancelled?.(waiting[0].entry)) {
      waiting.shift();
      this.#size--;
    }
    if (waiting.length === 0) this.#waiting.delete(owner);
  }
}

/** The cost by its size, or its owner's average if that is less: `leave` corrects it. */
const expectedOf = ({ cost }: Waiting<object>, { averageCost }: Account): number =>
  Math.min(cost ?? averageCost ?? 1, averageCost ?? Number.POSITIVE_INFINITY);

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
