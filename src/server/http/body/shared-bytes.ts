import { FarthingError } from '@farthing/protocol/error';

/** A budget of bytes in two parts: an unproved request cannot use the part reserved for paid ones. */
export interface Shares {
  readonly unproved: SharedBytes;
  readonly proved: SharedBytes;
}

/** Bytes are counted together by Tenant, or else by request. */
export type Owner = string | object;

/** One request's share of a budget. */
export class Holding {
  readonly owner: Owner;
  bytes = 0;
  /** False once all has arrived: it is worked on, and ends by itself. */
  mayBeRefused = true;
  /** Called when it exceeds its share, with the number of its bytes, which no longer count. */
  readonly refuse: (bytes: number) => void;

  constructor(owner: Owner, refuse: (bytes: number) => void) {
    this.owner = owner;
    this.refuse = refuse;
  }
}

/** All that one owner holds. */
interface Held {
  readonly holdings: Set<Holding>;
  bytes: number;
}

/**
 * Bytes that several owners share. When they run out, only the largest owner is refused. No owner exceeds its own maximum, however
 * much is free.
 */
export class SharedBytes {
  readonly #bytesMax: number;
  readonly #ownerBytesMax: number;
  readonly #held = new Map<Owner, Held>();
  #bytes = 0;

  constructor(bytesMax: number, ownerBytesMax = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#ownerBytesMax = ownerBytesMax;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts more bytes of a holding. Until all fit, a holding of this owner, or of the owner of the most, is refused: maybe this one. */
  add(holding: Holding, bytes: number): void {
    const held = this.#of(holding.owner);
    held.holdings.add(holding);
    holding.bytes += bytes;
    held.bytes += bytes;
    this.#bytes += bytes;
    for (;;) {
      const over = this.#over(held, holding);
      if (!over) return;
      const taken = over.bytes;
      this.remove(over);
      over.refuse(taken);
      if (over === holding) return;
    }
  }

  /** Gives bytes back; without a number, all, and the holding has ended. */
  remove(holding: Holding, bytes = holding.bytes): void {
    holding.bytes -= bytes;
    this.#bytes -= bytes;
    const held = this.#held.get(holding.owner);
    if (!held) return;
    held.bytes -= bytes;
    if (holding.bytes > 0) return;
    held.holdings.delete(holding);
    if (held.holdings.size === 0) this.#held.delete(holding.owner);
  }

  #of(owner: Owner): Held {
    const known = this.#held.get(owner);
    if (known) return known;
    const held = { holdings: new Set<Holding>(), bytes: 0 };
    this.#held.set(owner, held);
    return held;
  }

  /** The request to refuse now; undefined when all fits. */
  #over(owners: Held, holding: Holding): Holding | undefined {
    if (owners.bytes > this.#ownerBytesMax) return largest(owners) ?? holding;
    if (this.#bytes <= this.#bytesMax) return undefined;
    let [most, found] = [0, undefined as Holding | undefined];
    for (const held of this.#held.values()) {
      if (held.bytes <= most) continue;
      const over = largest(held);
      if (over) [most, found] = [held.bytes, over];
    }
    return found ?? holding;
  }
}

/** The largest holding of an owner, of those that may be refused. */
function largest({ holdings }: Held): Holding | undefined {
  let found: Holding | undefined;
  for (const holding of holdings) {
    if (holding.mayBeRefused && holding.bytes > (found?.bytes ?? 0)) found = holding;
  }
  return found;
}

/** A third is for what is unproved. */
export function sharesOf(bytesMax: number): Shares {
  const unproved = Math.floor(bytesMax / 3);
  return { unproved: new SharedBytes(unproved), proved: new SharedBytes(bytesMax - unproved) };
}

export function overShare(): FarthingError {
  return new FarthingError(
    'overloaded',
    'Much is being sent to this server at once, and this exceeds its share. Try again in a moment.',
  );
}
