import type { FileInfo } from '../../domain/document.ts';
import type { FarthingError } from '../../domain/error.ts';
import type { Preview } from '../../domain/preview.ts';
import type { Sink } from '../read.ts';
import type { Settings, Task } from './messages.ts';

/** Where the files of an archive go, one after the other: its begin, its pieces, its end. */
export interface MemberSink {
  begin(path: string): Promise<void>;
  piece(bytes: Uint8Array): Promise<void>;
  /** `refused`: it could not be unpacked, or may not be. */
  end(refused?: FarthingError): Promise<void>;
}

/** Where a child's answers go. */
export interface Output extends Sink {
  readonly members: MemberSink;
  preview(preview: Preview): Promise<void>;
  /** 16-bit samples, one channel, SOUND_RATE a second. */
  sound(samples: Uint8Array): Promise<void>;
  flush(): Promise<void>;
}

/** What a task ends with, beside what it gave to the output. */
export interface Done {
  readonly opened?: FileInfo;
  readonly title?: string;
  /** Pages that show something but hold no text: what they say can only be recognised. A picture's is 1. */
  readonly textless?: readonly number[];
  /** The process has grown: a fresh one is better. */
  readonly worn?: boolean;
}

/** One kind of child process: what it loads before it is confined, and what it does with a task afterwards. */
export interface Program {
  /** Reads something within the confinement, so that what is loaded lazily fails here or never. */
  tryOut(): Promise<void>;
  perform(task: Task, body: Buffer, output: Output): Promise<Done>;
}

export type Prepare = (settings: Settings) => Promise<Program>;
