import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { environmentOf } from '../../test/rig/environment.ts';
import type { ServerCounts } from './counted-server.ts';

/** Variables that lead a process to its libraries, its GPU and its encoder; no other setting of the server, and no secret. */
const INHERITED = /^(?:PATH|HOME|LD_LIBRARY_PATH|FARTHING_PROVIDER|(?:CUDA|NVIDIA|VK)_.*)$/;

/** The part of the bench's environment that a measured server takes over. */
export function inherited(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => INHERITED.test(name)));
}

/** A server in a process of its own, with the counts of its encoders. */
export class CountedServer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  static async start(environment: Record<string, string> = {}): Promise<CountedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
    const child = fork(resolve(import.meta.dirname, 'counted-server.ts'), [], {
      env: {
        ...inherited(process.env),
        ...environmentOf({
          PORT: '0',
          DEMO: '0',
          DATA_DIR: folder,
          LOG_LEVEL: 'warn',
          TENANT_REQUESTS_PER_SECOND: '1000000',
          // On a busy machine searches wait longer: that is measured, and not refused.
          QUERY_WAIT_MS_MAX: '0',
          ...environment,
        }),
      },
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error('the server ended before it was ready');
    });
    const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string }];
    ended.catch(() => {});
    return new CountedServer(url, child, folder);
  }

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
  }

  /** Counts since the start; the event loop's lateness since the last call. */
  async counts(): Promise<ServerCounts> {
    this.#child.send({});
    const [counts] = (await once(this.#child, 'message')) as [ServerCounts];
    return counts;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
