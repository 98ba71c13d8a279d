import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/server/state/store.ts';

/** Durable commits of the same kind of store on the same disk, one at a time: what a payment cannot do without. */
export class BenchCommits {
  readonly #folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  readonly #store = openStore(this.#folder);
  readonly #table = this.#store.table<object>('bench');
  #count = 0;

  /** Milliseconds of one. */
  async once(): Promise<number> {
    const before = performance.now();
    await this.#store.transaction(() => {
      this.#count += 1;
      this.#table.put(`payment/${this.#count}`, {
        state: 'reserved',
        nonce: randomBytes(32).toString('hex'),
      });
      this.#table.put(`open/${this.#count}`, { one: 1 });
    });
    return performance.now() - before;
  }

  async close(): Promise<void> {
    await this.#store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
