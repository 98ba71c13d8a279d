import { join, resolve } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { Limit } from '@farthing/queues/limit';
import { Owners } from '@farthing/queues/owners';
import type { ManifestModel } from '../models/manifest.ts';
import { readManifest } from '../models/read-manifest.ts';
import { Verification } from '../models/verification.ts';
import { TaskThread } from '../workers/task-thread.ts';
import { Listener } from './listener.ts';
import type { Written } from './speech-writer.ts';
import type { Heard, ListenTask, VoiceSettings, WriteTask } from './voice-thread.ts';

export type { Said } from './listener.ts';
export type { Stretch } from './stretches.ts';

/** Finds the speech in recordings and, with a model, transcribes it. */
export interface Listening {
  /** Whether speech is transcribed. */
  readonly writes: boolean;
  /** Begins a recording of a Tenant. */
  listen(tenant?: string): Listener;
  close(): Promise<void>;
}

/** Idle time after which the thread ends, as for readers of recordings. A start takes half a second of processor time. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * The manifest's models of voice and speech, in a thread that starts with the first recording and ends when there was none for a
 * while. Undefined where no model of voices is installed.
 * @throws FarthingError `models_invalid` for a wrong manifest
 */
export async function openListening(options: {
  readonly modelsFolder: string;
  readonly cacheFolder: string;
  /** Queue for the thread. */
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

/** One thread; recordings take turns piece by piece, and their owners by the time that they took. */
class ThreadListening implements Listening {
  readonly #settings: VoiceSettings;
  readonly #owners: Pick<Owners, 'of'>;
  /** A recording has one task at a time, and jobs are bounded: so are the tasks that wait. */
  readonly #limit = new Limit({ insideMax: 1 }, stopping);
  readonly #thread: TaskThread<ListenTask | WriteTask>;
  #closed = false;

  constructor(settings: VoiceSettings, owners: Pick<Owners, 'of'>, idleMsMax: number) {
    this.#settings = settings;
    this.#owners = owners;
    this.#thread = new TaskThread(new URL('./voice-thread.ts', import.meta.url), settings, idleMsMax);
  }

  get writes(): boolean {
    return this.#settings.writing !== undefined;
  }

  listen(tenant = ''): Listener {
    const { voice, writing } = this.#settings;
    const owner = this.#owners.of(tenant);
    return new Listener({
      voice,
      listen: (task) => this.#run<Heard>(owner, { kind: 'listen', ...task }),
      ...(writing && {
        writing: {
          secondsMax: writing.speech.seconds,
          write: (samples, before) =>
            this.#run<Written>(owner, { kind: 'write', samples, ...(before && { before }) }),
        },
      }),
    });
  }

  /** Waits for the running task. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#limit.refuseWaiting(stopping());
    await this.#thread.rest();
  }

  #run<Result>(owner: string, task: ListenTask | WriteTask): Promise<Result> {
    return this.#limit.run(owner, async (entered) => {
      if (this.#closed) throw stopping();
      const began = performance.now();
      try {
        return (await this.#thread.run(task)) as Result;
      } catch (cause) {
        throw new FarthingError('internal', 'The thread that listens to recordings failed.', { cause });
      } finally {
        entered.cost = performance.now() - began;
      }
    });
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.');
}
