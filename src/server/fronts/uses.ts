import type { ProbedEvent } from '@farthing/engine/search/recall-probe';
import type { CountedSearch } from '../workspace/activity/activity.ts';
import type { Uses } from './messages.ts';

const WAIT_MS = 20;
/** More are reported at once. */
const SEARCHES_MAX = 128;
const CHARACTERS_MAX = 64 * 1024;

/** What a front has to report to the owner, which it does many at a time. */
export class PendingUses {
  readonly #report: (uses: Uses) => void;
  #lines = '';
  #searches: [string, CountedSearch][] = [];
  #probes: ProbedEvent[] = [];
  #events: object[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(report: (uses: Uses) => void) {
    this.#report = report;
  }

  /** A line of the log. */
  line(line: string): void {
    this.#lines += line;
    this.#soon();
  }

  search(workspace: string, search: CountedSearch): void {
    this.#searches.push([workspace, search]);
    this.#soon();
  }

  probe(event: ProbedEvent): void {
    this.#probes.push(event);
    this.#soon();
  }

  event(event: object): void {
    this.#events.push(event);
    this.#soon();
  }

  flush(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#report({
      lines: this.#lines,
      searches: this.#searches,
      probes: this.#probes,
      events: this.#events,
    });
    this.#lines = '';
    [this.#searches, this.#probes, this.#events] = [[], [], []];
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.flush(), WAIT_MS).unref();
    if (this.#searches.length >= SEARCHES_MAX || this.#lines.length >= CHARACTERS_MAX) this.flush();
  }
}
