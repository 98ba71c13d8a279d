import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { builtServer } from '../../../scripts/built-server.ts';
import type { CrashPlace } from '../../cluster/crash-place.ts';
import { BARE_ENVIRONMENT, environmentOf } from '../../rig/environment.ts';
import { PAY_TO } from '../rig/payments.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** Maximum starts of a server that loses its lease while it starts. */
const STARTS_MAX = 5;
const PENDING_DEADLINE_MS = 120_000;

/** Settings of a whole server, but for its models. @param folder for the manifest without models */
export function serverSettings(
  folder: string,
  facilitator: Readonly<Record<string, string>>,
): Record<string, string> {
  const models = join(folder, 'models');
  mkdirSync(models, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(ROOT, 'models/manifest.json'), 'utf8')) as object;
  writeFileSync(
    join(models, 'manifest.json'),
    JSON.stringify({ ...manifest, use: {}, models: [], other_languages: undefined }),
  );
  return {
    ...BARE_ENVIRONMENT,
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:8402',
    DEMO: '0',
    LOG_LEVEL: 'info',
    MODELS_DIR: models,
    PAY_TO,
    ...facilitator,
  };
}

/** Surroundings of a server. */
type Place = Pick<CrashPlace, 'folder' | 'settings' | 'nextNode' | 'endsServers'>;

/** The whole server, but for its models, in a process that is killed and started again over the same data. */
export class KilledServer {
  url = 'http://127.0.0.1:1';
  readonly #place: Place;
  readonly #environment: Record<string, string | undefined>;
  #child: ChildProcess | undefined;

  /** @param facilitator settings by which it settles */
  constructor(place: Place, facilitator: Readonly<Record<string, string>>) {
    this.#place = place;
    this.#environment = environmentOf({ ...serverSettings(place.folder, facilitator), ...place.settings });
  }

  /** Resolves when it is ready, or when it was killed before. */
  async start(again = STARTS_MAX): Promise<void> {
    const child = spawn(process.execPath, [builtServer()], {
      env: { ...this.#environment, ...environmentOf(this.#place.nextNode()) },
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, so that it can be killed together with the processes that read uploads.
      detached: true,
    });
    this.#child = child;
    await new Promise<void>((ready, reject) => {
      child.once('exit', (code, signal) => {
        if (signal) ready();
        else if (this.#place.endsServers && again > 1) this.start(again - 1).then(ready, reject);
        else reject(new Error(`the server ended with ${code} before it was ready`));
      });
      createInterface(child.stdout).on('line', (line) => {
        if (!line.includes('"event":"ready"')) return;
        this.url = (JSON.parse(line) as { url: string }).url;
        ready();
      });
    });
  }

  /** The process is paused, with its child processes, until it is killed. */
  pause(): void {
    if (this.#child?.pid && this.#isRunning) process.kill(-this.#child.pid, 'SIGSTOP');
  }

  /** `whole`: its child processes die with it, as in a power cut; otherwise they outlive it for a moment. */
  kill(whole = true): Promise<void> {
    return this.#end((pid) => process.kill(whole ? -pid : pid, 'SIGKILL'));
  }

  stop(): Promise<void> {
    return this.#end((pid) => process.kill(pid, 'SIGTERM'));
  }

  /** Waits until no payment is half-way. @returns what is wrong when some stay so. */
  async withoutPending(): Promise<string[]> {
    const givingUp = Date.now() + PENDING_DEADLINE_MS;
    for (;;) {
      const body = (await (await fetch(`${this.url}/readyz`)).json()) as { payment: { pending: number } };
      if (body.payment.pending === 0) return [];
      if (Date.now() > givingUp) return [`${body.payment.pending} payments are pending for ever`];
      await after(100);
    }
  }

  get #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  async #end(signal: (pid: number) => void): Promise<void> {
    const child = this.#child;
    if (!child?.pid || !this.#isRunning) return;
    const ended = new Promise((resolveEnd) => child.once('exit', resolveEnd));
    signal(child.pid);
    await ended;
  }
}
