import { randomBytes } from 'node:crypto';

/** A server that has not reported by then is gone, or the answer was lost on the way to it. */
const REPORT_MS_MAX = 30_000;

type Delivered = (whole: boolean) => void;

/** Answers that another server passes on: whether their clients got them is known once it reports. */
export class HeldDeliveries {
  readonly #held = new Map<string, { readonly delivered: Delivered; readonly forgotten: NodeJS.Timeout }>();
  readonly #reportMsMax: number;

  constructor(reportMsMax = REPORT_MS_MAX) {
    this.#reportMsMax = reportMsMax;
  }

  /** @returns the id to report under. Without a report in time it is `false`. */
  hold(delivered: Delivered): string {
    const id = randomBytes(16).toString('hex');
    const forgotten = setTimeout(() => this.report(id, false), this.#reportMsMax).unref();
    this.#held.set(id, { delivered, forgotten });
    return id;
  }

  /** The first report counts; an unknown id is none. */
  report(id: string, whole: boolean): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    clearTimeout(held.forgotten);
    held.delivered(whole);
  }

  /** No more reports come. */
  close(): void {
    for (const id of [...this.#held.keys()]) this.report(id, false);
  }
}
