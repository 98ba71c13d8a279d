import { FarthingError } from '@farthing/client';
import { usdText } from '@farthing/protocol/figures';
import { type AtomicAmount, formatUsd, parseUsd } from '@farthing/protocol/money';
import { UsageError } from '../commands/command-set.ts';
import type { Io } from '../terminal/io.ts';
import { ask } from '../terminal/say.ts';

/** Higher sums need a person's consent or --yes. */
const ASK_ABOVE_USD = '0.05';

/** A price that could not be confirmed. The code ends a run over many files. */
class NobodyToAsk extends UsageError {
  readonly code = 'payment_declined';
}

/** A person's consent to pay in one command: up to `--ask-above` in all without being asked. */
export class Consent {
  readonly #io: Io;
  readonly #asksNobody: boolean;
  #agreed: AtomicAmount;
  #signed = 0n;
  /** Questions are asked one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** @throws UsageError when the limit is no amount */
  constructor({ 'ask-above': limit = ASK_ABOVE_USD, yes }: { 'ask-above'?: string; yes: boolean }, io: Io) {
    this.#io = io;
    this.#asksNobody = yes;
    this.#agreed = amountOf('ask-above', limit);
  }

  /** Asks for the whole price of a command. @throws payment_declined; UsageError without a terminal to ask on */
  async forAll(amount: AtomicAmount, question: string): Promise<void> {
    if (this.#asksNobody || amount <= this.#agreed) return;
    if (!(await this.#ask(question, amount)))
      throw new FarthingError('payment_declined', 'You said no: nothing was paid.');
    this.#agreed = amount;
  }

  /** Asks for one payment, if it brings the sum over what was agreed to. @throws UsageError without a terminal to ask on */
  forOne(usd: string, what: string): Promise<boolean> {
    const next = this.#last.then(async () => {
      const sum = this.#signed + parseUsd(usd);
      if (!this.#asksNobody && sum > this.#agreed) {
        if (!(await this.#ask(`${what}\nPay ${usdText(usd)}?`, sum))) return false;
        this.#agreed = sum;
      }
      this.#signed = sum;
      return true;
    });
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #ask(question: string, sum: AtomicAmount): Promise<boolean> {
    const answer = ask(this.#io, question);
    if (answer) return answer;
    const usd = formatUsd(sum);
    throw new NobodyToAsk(
      `The price is ${usdText(usd)}, and there is no terminal to ask at: --yes or --ask-above ${usd} allows it. Nothing was paid.`,
    );
  }
}

/** @throws UsageError that names the option */
export function amountOf(option: string, text: string): AtomicAmount {
  try {
    return parseUsd(text);
  } catch {
    throw new UsageError(`--${option}: "${text}" is not an amount of US dollars, such as 0.05.`);
  }
}
