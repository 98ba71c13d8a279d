import { FarthingError } from '@farthing/protocol/error';
import type { SpaceSpec } from '../space.ts';
import type { Encoder } from './encoder.ts';

export interface PreviousModelsOptions {
  /** Opens the model that fills a space; undefined when it is not installed. */
  readonly open: (space: SpaceSpec) => Promise<Encoder | undefined>;
  readonly log: (event: object) => void;
}

/** Previous models that are open at once. */
const OPEN_MAX = 4;

interface Previous {
  readonly opening: Promise<Encoder | undefined>;
  /** The model, once it is open. */
  encoder?: Encoder | undefined;
  /** Undefined until it is known whether the model is there. */
  isOpen?: boolean;
  /** Tenants that have used it. */
  readonly tenants: Set<string>;
  /** Calls of `use` that run. */
  users: number;
  /** It is not installed, or could not be opened. */
  isLost: boolean;
}

/**
 * Models of living indexes beside those in use: they were in use before, or are for other languages. Each is opened by its first use and closed once the last Tenant
 * that used it is gone. For one more than may be open, the one that was used least recently is closed, unless it is being used.
 */
export class PreviousModels {
  readonly #options: PreviousModelsOptions;
  /** In the order of use. */
  readonly #all = new Map<string, Previous>();

  constructor(options: PreviousModelsOptions) {
    this.#options = options;
  }

  /** Number of those that are open, or being opened. */
  get count(): number {
    return [...this.#all.values()].filter(({ isLost }) => !isLost).length;
  }

  /**
   * Runs `work` with the models of a Tenant's spaces, in their order; they stay open for it. Undefined for one that is not installed.
   * @throws overloaded while as many others as may be open are being used
   */
  async use<T>(
    tenant: string,
    spaces: readonly SpaceSpec[],
    work: (encoders: readonly (Encoder | undefined)[]) => Promise<T>,
  ): Promise<T> {
    return this.#entered(tenant, spaces, async (entered) =>
      work(await Promise.all(entered.map(({ opening }) => opening))),
    );
  }

  /**
   * As `use`, with those alone that are open now: it waits for none. The others open behind, for later calls: `opening`.
   * @throws overloaded as `use`
   */
  useOpen<T>(
    tenant: string,
    spaces: readonly SpaceSpec[],
    work: (encoders: readonly (Encoder | 'opening' | undefined)[]) => Promise<T>,
  ): Promise<T> {
    return this.#entered(tenant, spaces, (entered) =>
      work(entered.map(({ encoder, isOpen }) => (isOpen === undefined ? 'opening' : encoder))),
    );
  }

  async #entered<T>(
    tenant: string,
    spaces: readonly SpaceSpec[],
    work: (entered: readonly Previous[]) => Promise<T>,
  ): Promise<T> {
    const entered: [string, Previous][] = [];
    try {
      for (const space of spaces) entered.push(this.#enter(tenant, space));
      return await work(entered.map(([, previous]) => previous));
    } finally {
      for (const [key, previous] of entered) {
        previous.users -= 1;
        this.#closeUnlessNeeded(key, previous);
      }
    }
  }

  /** Closes what only Tenants have used that are gone: they ended, or another server has them. */
  gone(isGone: (tenant: string) => boolean): void {
    for (const [key, previous] of this.#all) {
      for (const tenant of previous.tenants) if (isGone(tenant)) previous.tenants.delete(tenant);
      this.#closeUnlessNeeded(key, previous);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(([key, previous]) => this.#close(key, previous)));
  }

  #enter(tenant: string, space: SpaceSpec): [string, Previous] {
    const key = `${space.name} ${space.modelSha256}`;
    const known = this.#all.get(key);
    if (!known) this.#makeRoom();
    const previous = known ?? this.#open(space);
    previous.tenants.add(tenant);
    previous.users += 1;
    // Last in the map: last to be closed.
    this.#all.delete(key);
    this.#all.set(key, previous);
    return [key, previous];
  }

  #makeRoom(): void {
    if (this.count < OPEN_MAX) return;
    const idlest = [...this.#all].find(([, { users, isLost }]) => users === 0 && !isLost);
    if (!idlest) {
      throw new FarthingError(
        'overloaded',
        `This index has another model than most, and the ${OPEN_MAX} of these that may be open are busy. Try again.`,
        { retryAfterS: 1 },
      );
    }
    void this.#close(...idlest);
  }

  #open(space: SpaceSpec): Previous {
    const { open, log } = this.#options;
    const model = { space: space.name, model_sha256: space.modelSha256 };
    const opening = open(space).catch((error: unknown) => {
      log({ event: 'previous_model_failed', ...model, error: String(error) });
      return undefined;
    });
    const previous: Previous = { opening, tenants: new Set(), users: 0, isLost: false };
    void opening.then((encoder) => {
      previous.isLost = !encoder;
      previous.encoder = encoder;
      previous.isOpen = encoder !== undefined;
      log({ event: encoder ? 'previous_model_loaded' : 'previous_model_missing', ...model });
    });
    return previous;
  }

  #closeUnlessNeeded(key: string, previous: Previous): void {
    if (previous.users === 0 && previous.tenants.size === 0) void this.#close(key, previous);
  }

  async #close(key: string, previous: Previous): Promise<void> {
    // It may have been closed, and opened again, since.
    if (this.#all.get(key) === previous) this.#all.delete(key);
    await (await previous.opening)?.close();
  }
}
