import type { DisposalAnswer } from '@farthing/client';
import type { OpenWorkspace } from './session.ts';

/** State in the browser's storage, which outlives a reload. */

/** A kept value, its check, and its key. */
class Kept<T> {
  readonly #key: string;
  readonly #isWhole: (value: Partial<T>) => boolean;

  constructor(key: string, isWhole: (value: Partial<T>) => boolean) {
    this.#key = `farthing.${key}`;
    this.#isWhole = isWhole;
  }

  /** Undefined without one, or with one that another version wrote. */
  read(): T | undefined {
    try {
      const value = JSON.parse(localStorage.getItem(this.#key) ?? 'null') as Partial<T> | null;
      return value && this.#isWhole(value) ? (value as T) : undefined;
    } catch {
      return undefined;
    }
  }

  write(value: T | undefined): void {
    if (value) localStorage.setItem(this.#key, JSON.stringify(value));
    else localStorage.removeItem(this.#key);
  }
}

const isAccess = ({ id, token }: Partial<OpenWorkspace>) =>
  typeof id === 'string' && typeof token === 'string';

export const keptWorkspace = new Kept<OpenWorkspace>('workspace', isAccess);
/** An expired one: its token still gets the receipt. */
export const keptEnded = new Kept<OpenWorkspace>('ended', isAccess);
export const keptReceipt = new Kept<{ readonly disposal: DisposalAnswer; readonly doubt?: string }>(
  'receipt',
  ({ disposal }) => typeof disposal?.receipt === 'string' && typeof disposal.claims === 'object',
);
/** Whether the user put the play wallet away. */
export const keptNoWallet = new Kept<{ readonly at: number }>(
  'no-wallet',
  ({ at }) => typeof at === 'number',
);
