import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Test } from 'tap';
import { watchAnswers } from './described-answers.ts';
import { BARE_ENVIRONMENT, environmentOf } from './environment.ts';
import { CACHE_DIR, FEW_WORKERS } from './test-server.ts';

/** A server in a process of its own, which can be killed at any moment and started again over the same folder. */
export class ServedProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** `log`: a file that all output is added to. */
  static async start(
    t: Pick<Test, 'teardown'>,
    { data, log, environment = {} }: { data: string; log: string; environment?: Record<string, string> },
  ): Promise<ServedProcess> {
    const child = fork(resolve(import.meta.dirname, 'served.ts'), [], {
      env: environmentOf({
        ...BARE_ENVIRONMENT,
        PORT: '0',
        DEMO: '0',
        DATA_DIR: data,
        CACHE_DIR,
        LOG_LEVEL: 'trace',
        QUERY_WAIT_MS_MAX: '0',
        ...FEW_WORKERS,
        ...environment,
      }),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const output = createWriteStream(log, { flags: 'a' });
    child.stdout!.pipe(output, { end: false });
    child.stderr!.pipe(output, { end: false });
    const ended = once(child, 'exit').then(() => output.end());
    t.teardown(() => {
      child.kill('SIGKILL');
      return ended;
    });
    const ready = once(child, 'message') as Promise<[{ url: string }]>;
    const [{ url }] = await Promise.race([
      ready,
      ended.then(() => {
        throw new Error(`the server ended before it was ready; see ${log}`);
      }),
    ]);
    await watchAnswers(url);
    return new ServedProcess(url, child, ended);
  }

  private constructor(url: string, child: ChildProcess, ended: Promise<unknown>) {
    this.url = url;
    this.#child = child;
    this.#ended = ended;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** As a power cut does to a process. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Lets rented time pass. */
  advance(milliseconds: number): void {
    this.#child.send({ advanceMs: milliseconds });
  }
}
