import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FarthingError } from '../../domain/error.ts';
import type { ManifestModel } from '../models/manifest.ts';
import { readManifest } from '../models/read-manifest.ts';
import { Verification } from '../models/verification.ts';
import { Listener } from './listener.ts';
import type {
  Heard,
  ListenTask,
  VoiceMessage,
  VoiceResult,
  VoiceSettings,
  WriteTask,
} from './voice-thread.ts';

export type { Said } from './listener.ts';
export type { Stretch } from './stretches.ts';

/** Finds where somebody speaks in recordings and, with a model of speech, what is said. */
export interface Listening {
  /** Whether speech is transcribed. */
  readonly writes: boolean;
  /** Begins a recording. */
  listen(): Listener;
  close(): Promise<void>;
}

const CLOSE_LOOKS_EVERY_MS = 10;

/**
 * The manifest's models of voice and speech, in a thread that starts with the first recording. Undefined where no model of
 * voices is installed.
 * @throws FarthingError `models_invalid` for a wrong manifest
 */
export async function openListening(options: {
  readonly modelsFolder: string;
  readonly cacheFolder: string;
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
  return voice && new ThreadListening(settingsOf(folder, voice, speech));
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
  readonly resolve: (result: Heard | string) => void;
  readonly reject: (error: unknown) => void;
}

class ThreadListening implements Listening {
  readonly #settings: VoiceSettings;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #count = 0;
  #closed = false;

  constructor(settings: VoiceSettings) {
    this.#settings = settings;
  }

  get writes(): boolean {
    return this.#settings.writing !== undefined;
  }

  listen(): Listener {
    const { voice, writing } = this.#settings;
    return new Listener({
      voice,
      listen: async (task) => (await this.#run({ kind: 'listen', ...task })) as Heard,
      ...(writing && {
        writing: {
          seconds: writing.speech.seconds,
          write: async (samples) => (await this.#run({ kind: 'write', samples })) as string,
        },
      }),
    });
  }

  /** Waits for running tasks: ending the thread inside a model's run would end the process. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#waiting.size > 0) await new Promise((resume) => setTimeout(resume, CLOSE_LOOKS_EVERY_MS));
    await this.#thread?.terminate();
  }

  #run(task: ListenTask | WriteTask): Promise<Heard | string> {
    if (this.#closed) return Promise.reject(new FarthingError('interrupted', 'The server is stopping.'));
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#living().postMessage({ id, task } satisfies VoiceMessage);
    });
  }

  #living(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(new URL('./voice-thread.ts', import.meta.url), { workerData: this.#settings });
    thread.unref();
    thread.on('message', (message: VoiceResult) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if ('failure' in message) waiting?.reject(failed(message.failure));
      else waiting?.resolve(message.result);
    });
    const end = (reason: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      for (const { reject } of this.#waiting.values()) reject(failed(reason));
      this.#waiting.clear();
    };
    thread.on('error', end);
    thread.on('exit', (code) => end(`it ended with ${code}`));
    this.#thread = thread;
    return thread;
  }
}

function failed(cause: unknown): FarthingError {
  return new FarthingError('internal', 'The thread that listens to recordings failed.', { cause });
}
