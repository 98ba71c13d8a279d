import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { builtServer } from '../../../scripts/built-server.ts';
import { environmentOf } from '../../rig/environment.ts';

export interface ClusterNodeOptions {
  readonly id: string;
  readonly port: number;
  /** Where the other nodes reach it. */
  readonly peerUrl: string;
  readonly dataFolder: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A supervisor starts it again after so long. */
const RESTART_MS = 300;

/** A server that shares its slots with others, under a supervisor: whenever its process ends, it is started again. */
export class ClusterNode {
  readonly url: string;
  /** Log file of all of its processes. */
  readonly logFile: string;
  readonly #options: ClusterNodeOptions;
  #child: ChildProcess | undefined;
  #isWanted = true;
  #losesDisk = false;
  #awayMs = RESTART_MS;
  #isReady = false;
  #ready = Promise.withResolvers<void>();
  #ended: Promise<void> = Promise.resolve();
  /** How often it ended by itself, because it could not be sure of its slots. */
  gaveUp = 0;

  constructor(options: ClusterNodeOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    this.logFile = `${options.dataFolder}.log`;
    this.#start();
  }

  /** Resolves when its present process, or the next one, is ready. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** The process is paused, with its child processes. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  /** `losesDisk`: the next process finds nothing of its data folder. `awayMs`: until it is started. */
  kill({ losesDisk = false, awayMs = RESTART_MS } = {}): void {
    this.#losesDisk = losesDisk;
    this.#awayMs = awayMs;
    this.#endsReady();
    this.#signal('SIGKILL');
  }

  /** It hands its slots over and ends; the supervisor starts it again, as for a new version. */
  restart(): void {
    this.#endsReady();
    this.#child?.kill('SIGTERM');
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#child?.kill('SIGTERM');
    await this.#ended;
  }

  /** As `stop`, without asking. */
  destroy(): void {
    this.#isWanted = false;
    this.#signal('SIGKILL');
  }

  /** Who waits for one that ends before it is ready waits for the next. */
  #endsReady(): void {
    if (this.#isReady) this.#ready = Promise.withResolvers();
    this.#isReady = false;
  }

  #signal(signal: NodeJS.Signals): void {
    const child = this.#child;
    if (child?.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal);
  }

  #start(): void {
    const { id, port, peerUrl, dataFolder, settings } = this.#options;
    const child = spawn(process.execPath, [builtServer()], {
      env: environmentOf({
        ...settings,
        PORT: String(port),
        NODE_ID: id,
        NODE_URL: peerUrl,
        DATA_DIR: dataFolder,
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    this.#child = child;
    createInterface(child.stdout).on('line', (line) => {
      appendFileSync(this.logFile, `${line}\n`);
      if (!line.includes('"event":"ready"')) return;
      this.#isReady = true;
      this.#ready.resolve();
    });
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code) => {
        if (code) this.gaveUp += 1;
        resolve();
        this.#endsReady();
        if (this.#isWanted) void this.#startAgain();
      });
    });
  }

  async #startAgain(): Promise<void> {
    await after(this.#awayMs);
    this.#awayMs = RESTART_MS;
    if (!this.#isWanted) return;
    if (this.#losesDisk) rmSync(this.#options.dataFolder, { recursive: true, force: true, maxRetries: 20 });
    this.#losesDisk = false;
    this.#start();
  }
}
