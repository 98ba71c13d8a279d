import { native, type SearchedText } from '@farthing/native';
import { searched } from './open-snapshot.ts';
import type { Searched } from './snapshot.ts';

type NativePendingSearch = InstanceType<typeof native.NativePendingSearch>;

/** The outcome of a search that ran where its text was encoded. */
export interface AnsweredThere extends Searched {
  /** When the text was encoded, in milliseconds of `performance.now()`. */
  readonly encodedAt: number;
}

/** A search that waits for the vector of its text. It ends with its signal, also while it runs; close it. */
export class PendingSearch {
  readonly native: NativePendingSearch;
  readonly #madeAt = performance.now();
  readonly #signal: AbortSignal;
  readonly #giveUp: () => void;
  #outcome: Promise<AnsweredThere | undefined> = Promise.resolve(undefined);

  constructor(
    make: (stop: InstanceType<typeof native.SearchStop>) => NativePendingSearch,
    signal: AbortSignal,
  ) {
    const stop = new native.SearchStop();
    this.native = make(stop);
    this.#signal = signal;
    this.#giveUp = () => stop.stop();
    signal.addEventListener('abort', this.#giveUp);
  }

  /** Called by the encoder, if the search runs there. */
  begun(outcome: Promise<SearchedText>): void {
    this.#outcome = outcome.then(({ answer, encodedMs }) =>
      answer ? { ...searched(answer), encodedAt: this.#madeAt + encodedMs } : undefined,
    );
    // A client that left waits for nothing.
    this.#outcome.catch(() => {});
  }

  /**
   * Resolves once the search has ended, if it has begun when its text is encoded. Undefined if it has not, if it would take long, or if
   * its index was closed or changed its model. @throws shard_corrupt; interrupted when the signal aborts
   */
  answer(): Promise<AnsweredThere | undefined> {
    return this.#outcome;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#giveUp);
  }
}
