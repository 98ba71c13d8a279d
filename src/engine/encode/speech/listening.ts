import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FarthingError } from '@farthing/protocol/error';
import { FairQueue } from '@farthing/queues/fair-queue';
import { Owners } from '@farthing/queues/owners';
import type { ManifestModel } from '../models/manifest.ts';
import { readManifest } from '../models/read-manifest.ts';
import { Verification } from '../models/verification.ts';
import { Listener } from './listener.ts';
import type { Written } from './speech-writer.ts';
import type { Heard, ListenTask, VoiceResult, VoiceSettings, WriteTask } from './voice-thread.ts';

export type { Said } from './listener.ts';
export type { Stretch } from './stretches.ts';

/** Finds where somebody speaks in recordings and, with a model of speech, what is said. */
export interface Listening {
  /** Whether speech is transcribed. */
  readonly writes: boolean;
  /** Begins a recording of a Tenant. */
  listen(tenant?: string): Listener;
  close(): Promise<void>;
}

const CLOSE_LOOKS_EVERY_MS = 10;
/** As long as readers of recordings stay. A start takes half a second of processor time. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * The manifest's models of voice and speech, in a thread that starts with the first recording and ends when there was none for a
 * while. Undefined where no model of voices is installed.
 * @throws FarthingError `models_invalid` for a wrong manifest
 */
export async function openListening(options: {
  readonly modelsFolder: string;
  readonly cacheFolder: string;
  /** Who shares the thread. */
  readonly owners?: Pick<Owners, 'of'>;
  /** How long the thread stays without a task. Absent: ten minutes. */
  readonly idleMsMax?: number;
  readonly log: (event: object) => void;
}): Promise<Listening | undefined> {
  const folder = resolve(options.modelsFolder);
  const manifest = await readManifest(folder);
  const verification = await Verification.open(folder, options.cacheFolder);
  const usable = async (name: string | undefined): Promise<ManifestModel | undefined> => {
    const model = manifest.models.find((listed) => listed.name === name);
    for (const file of Object.values(model?.files ?? {})) {
      const reason = await verification.refusal(file);
      if (reason === undefined) continue;
      options.log({ event: 'model_missing', model: name, reason });
      return undefined;
    }
    return model;
  };
  const [voice, speech] = [await usable(manifest.use.voice), await usable(manifest.use.speech)];
  await verification.save();
  const { owners = new Owners(), idleMsMax = IDLE_MS_MAX } = options;
  return voice && new ThreadListening(settingsOf(folder, voice, speech), owners, idleMsMax);
}

function settingsOf(
  folder: string,
  { voice, files }: ManifestModel,
  writer: ManifestModel | undefined,
): VoiceSettings {
  const path = (model: ManifestModel, name: string): string => join(folder, model.files[name]!.path);
  const { speech } = writer ?? {};
  return {
    weights: join(folder, files[voice!.file]!.path),
    voice: voice!,
    ...(writer &&
      speech && {
        writing: {
          encoder: path(writer, speech.encoder),
          decoder: path(writer, speech.decoder),
          tokenizer: path(writer, speech.tokenizer),
          speech,
        },
      }),
  };
}

interface Waiting {
  readonly task: ListenTask | WriteTask;
  readonly resolve: (result: Heard | Written) => void;
  readonly reject: (error: unknown) => void;
}

/** One thread; recordings take turns piece by piece, and their owners by the time that they took. */
class ThreadListening implements Listening {
  readonly #settings: VoiceSettings;
  readonly #owners: Pick<Owners, 'of'>;
  readonly #queue = new FairQueue<Waiting>({ takenMax: 1 });
  /** The task that runs, and when it began. */
  #running: { readonly waiting: Waiting; readonly began: number } | undefined;
  readonly #idleMsMax: number;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: VoiceSettings, owners: Pick<Owners, 'of'>, idleMsMax: number) {
    this.#settings = settings;
    this.#owners = owners;
    this.#idleMsMax = idleMsMax;
  }

  get writes(): boolean {
    return this.#settings.writing !== undefined;
  }

  listen(tenant = ''): Listener {
    const { voice, writing } = this.#settings;
    const owner = this.#owners.of(tenant);
    return new Listener({
      voice,
      listen: async (task) => (await this.#run(owner, { kind: 'listen', ...task })) as Heard,
      ...(writing && {
        writing: {
          secondsMax: writing.speech.seconds,
          write: async (samples, before) =>
            (await this.#run(owner, { kind: 'write', samples, ...(before && { before }) })) as Written,
        },
      }),
    });
  }

  /** Waits for the running task. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.drain()) reject(stopping());
    while (this.#running) await new Promise((resume) => setTimeout(resume, CLOSE_LOOKS_EVERY_MS));
    await this.#endThread();
  }

  #run(owner: string, task: ListenTask | WriteTask): Promise<Heard | Written> {
    if (this.#closed) return Promise.reject(stopping());
    return new Promise((resolve, reject) => {
      // A recording has one task at a time, and jobs are bounded: so is this queue.
      this.#queue.push(owner, { task, resolve, reject });
      this.#startNext();
    });
  }

  #startNext(): void {
    const waiting = this.#queue.take();
    if (!waiting) return;
    clearTimeout(this.#idle);
    this.#running = { waiting, began: performance.now() };
    this.#living().postMessage(waiting.task);
  }

  /** The running task is over; its owner has had its milliseconds. */
  #end(end: (waiting: Waiting) => void): void {
    if (!this.#running) return;
    const { waiting, began } = this.#running;
    this.#running = undefined;
    this.#queue.done(waiting, performance.now() - began);
    end(waiting);
    this.#startNext();
    if (!this.#running) this.#idle = setTimeout(() => this.#endThread(), this.#idleMsMax).unref();
  }

  /** Only between tasks: ending the thread inside a model's run would end the process. */
  async #endThread(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #living(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(new URL('./voice-thread.ts', import.meta.url), { workerData: this.#settings });
    thread.unref();
    thread.on('message', (message: VoiceResult) =>
      this.#end(({ resolve, reject }) =>
        'failure' in message ? reject(failed(message.failure)) : resolve(message.result),
      ),
    );
    const end = (reason: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#end(({ reject }) => reject(failed(reason)));
    };
    thread.on('error', end);
    thread.on('exit', (code) => end(`it ended with ${code}`));
    this.#thread = thread;
    return thread;
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.');
}

function failed(cause: unknown): FarthingError {
  return new FarthingError('internal', 'The thread that listens to recordings failed.', { cause });
}
