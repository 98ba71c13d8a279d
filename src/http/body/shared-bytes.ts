import { FarthingError } from '../../domain/error.ts';

/** A budget of bytes in two parts: an unproved request cannot touch what is kept for those that are paid for. */
export interface Shares {
  readonly unproved: SharedBytes;
  readonly proved: SharedBytes;
}

/** Whose bytes are counted together: a Tenant’s, or those of one request. */
export type Owner = string | object;

/** What one request holds of a budget. */
export class Holding {
  readonly owner: Owner;
  bytes = 0;
  /** False once all has arrived: it is worked on, and ends by itself. */
  mayBeRefused = true;
  /** Called when it is over its share; its bytes, as many as it is told, have been taken from it. */
  readonly refuse: (bytes: number) => void;

  constructor(owner: Owner, refuse: (bytes: number) => void) {
    this.owner = owner;
    this.refuse = refuse;
  }
}

/** Bytes that several owners share. Where they are not enough, the owner of the most is refused, and nobody else. */
export class SharedBytes {
  readonly #bytesMax: number;
  readonly #holdings = new Map<Owner, Set<Holding>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts more bytes of a holding. Until all fit, the owner of the most has a holding refused: maybe this one. */
  add(holding: Holding, bytes: number): void {
    this.#ofOwner(holding.owner).add(holding);
    holding.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) {
      const over = this.#largest() ?? holding;
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
    if (holding.bytes > 0) return;
    const own = this.#holdings.get(holding.owner);
    own?.delete(holding);
    if (own?.size === 0) this.#holdings.delete(holding.owner);
  }

  #ofOwner(owner: Owner): Set<Holding> {
    const known = this.#holdings.get(owner);
    if (known) return known;
    const own = new Set<Holding>();
    this.#holdings.set(owner, own);
    return own;
  }

  /** The largest holding of the owner of the most, of those that may be refused. */
  #largest(): Holding | undefined {
    let [most, found] = [0, undefined as Holding | undefined];
    for (const own of this.#holdings.values()) {
      let [bytes, largest] = [0, undefined as Holding | undefined];
      for (const holding of own) {
        bytes += holding.bytes;
        if (holding.mayBeRefused && holding.bytes > (largest?.bytes ?? 0)) largest = holding;
      }
      if (largest && bytes > most) [most, found] = [bytes, largest];
    }
    return found;
  }
}

/** A third is for what is unproved. */
export function sharesOf(bytesMax: number): Shares {
  const unproved = Math.floor(bytesMax / 3);
  return { unproved: new SharedBytes(unproved), proved: new SharedBytes(bytesMax - unproved) };
}

export function overShare(): FarthingError {
  return new FarthingError(
    'overloaded',
    'Much is being sent to this server at once, and this is over its share. Try again in a moment.',
  );
}
