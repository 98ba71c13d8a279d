import type { Block, ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import type { FarthingError } from '@farthing/protocol/error';
import type { Preview } from '@farthing/protocol/file/preview';
import type { Done } from '../reading/sink.ts';

/** The first message to a child: what it needs for all files. */
export interface Settings {
  /** Which program the child becomes. */
  readonly program: 'reader' | 'queries' | 'recogniser' | 'media';
  /** Languages of the recogniser (ISO 639-2), or `auto`. */
  readonly languages: readonly string[];
  readonly pictureSpec: PictureSpec | undefined;
  readonly limits: ExtractLimits;
  /** The only folder whose files it may read. */
  readonly scratch: string;
  /** Niceness of the process, 0..19: above 0 for background work. */
  readonly niceness: number;
}

/**
 * What a child is asked to do. A file comes by its path, the picture of a query as the body of the message, and so do the bytes of a
 * small file that is opened.
 */
export type Task =
  | {
      readonly task: 'open';
      readonly path: string;
      readonly name?: string;
      /** True to read nothing of the contents on the way. */
      readonly headersOnly?: boolean;
    }
  | { readonly task: 'open-recording'; readonly path: string; readonly mediaType: string }
  | {
      readonly task: 'extract';
      readonly path: string;
      readonly mediaType: string;
      /** Absent: as in the settings. */
      readonly pictureSpec?: PictureSpec;
    }
  | {
      /** Gives the sound of a recording. */
      readonly task: 'listen';
      readonly path: string;
      readonly mediaType: string;
      /** The first sample that is given. */
      readonly from: number;
    }
  | {
      readonly task: 'preview';
      readonly path: string;
      readonly mediaType: string;
      readonly page: number;
      readonly timeS?: number;
    }
  | { readonly task: 'unpack'; readonly path: string; readonly mediaType: string }
  | {
      readonly task: 'recognise';
      readonly path: string;
      readonly mediaType: string;
      readonly page: number;
      /** True for a picture that does not look like a page: it is read if a glance finds writing on it. */
      readonly scene?: boolean;
    }
  | {
      readonly task: 'picture';
      /** True to check the header alone. */
      readonly headerOnly?: boolean;
      /** Absent: as in the settings. */
      readonly pictureSpec?: PictureSpec;
    };

/** How far the kernel confines a child: each is `enforced`, `partial: why` or `unavailable: why`. */
export interface ConfinementReport {
  readonly noNewPrivileges: string;
  readonly landlock: string;
  readonly seccomp: string;
  readonly memoryLimit: string;
}

/** What a child sends: `ready` once; for each task any number of the others, then `done` or `refused`. */
export type Reply =
  | { readonly reply: 'ready'; readonly confinement: ConfinementReport }
  | { readonly reply: 'progress'; readonly fraction: number }
  | { readonly reply: 'blocks'; readonly blocks: readonly Block[] }
  | { readonly reply: 'picture'; readonly picture: PictureContent }
  | { readonly reply: 'preview'; readonly preview: Preview }
  | { readonly reply: 'sound'; readonly samples: Int16Array }
  | {
      /** A piece of a file in an archive. The first piece of a file has its path, the last one ends it. */
      readonly reply: 'member';
      readonly path?: string;
      readonly piece: Buffer;
      readonly last: boolean;
      readonly refused?: FarthingError;
    }
  | ({ readonly reply: 'done' } & Done)
  | { readonly reply: 'refused'; readonly error: FarthingError };

/** The header of a picture's message. Its body is `pictureBody`: pixels, fingerprint and digest, one after the other. */
export function pictureHeader({ pixels, fingerprint, digest, ...rest }: PictureContent): object {
  return {
    reply: 'picture',
    ...rest,
    lengths: [pixels.rgb.length, fingerprint.length, digest.length],
  };
}

export function pictureBody({ pixels, fingerprint, digest }: PictureContent): Buffer {
  return Buffer.concat([pixels.rgb, fingerprint, digest]);
}
