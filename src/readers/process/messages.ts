import type { Block, ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import type { FarthingError } from '@farthing/protocol/error';
import type { Preview } from '@farthing/protocol/file/preview';
import type { Done, Output } from '../reading/sink.ts';

/** The first message to a reader process: what it needs for all files. */
export interface Settings {
  /** Which program the process runs. */
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
 * What a reader process is asked to do. A file comes by its path, the picture of a query as the body of the message, and so do the bytes of a
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

/** How far the kernel confines a reader process: each is `enforced`, `partial: why` or `unavailable: why`. */
export interface ConfinementReport {
  readonly noNewPrivileges: string;
  readonly landlock: string;
  readonly seccomp: string;
  readonly memoryLimit: string;
}

/** What a reader process sends: `ready` once; for each task any number of the others, then `done` or `refused`. */
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

/** What a reader process runs, ready for its tasks. */
export interface Program {
  /** Reads something while confined, so that a library that loads parts lazily fails here or never. */
  tryOut(): Promise<void>;
  perform(task: Task, body: Buffer, output: Output): Promise<Done>;
}

/** Loads everything that a program needs, before the process is confined. */
export type Prepare = (settings: Settings) => Promise<Program>;

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

/**
 * A message between the server and a reader process, over one pipe: the lengths of header and body (two unsigned 32-bit
 * integers, big endian), the header as JSON, the body as raw bytes. JSON is harmless to parse, also from a process that
 * was taken over.
 */
export interface Frame {
  readonly header: unknown;
  readonly body: Buffer;
}

/** The reader process's descriptor of the pipe. */
export const PIPE = 3;

export const HEADER_BYTES_MAX = 4 * 2 ** 20;
export const BODY_BYTES_MAX = 64 * 2 ** 20;

const PREFIX_BYTES = 8;

export function encodeFrame(header: object, body: Uint8Array = new Uint8Array()): Buffer[] {
  const json = Buffer.from(JSON.stringify(header));
  if (json.length > HEADER_BYTES_MAX || body.length > BODY_BYTES_MAX)
    throw new RangeError('the message exceeds the limit');
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return [prefix, json, Buffer.from(body.buffer, body.byteOffset, body.byteLength)];
}

/** Joins the pieces of a pipe to frames. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** @returns the frames that are complete now. @throws RangeError over a limit, SyntaxError for a broken header. */
  *push(piece: Buffer): Generator<Frame> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    for (;;) {
      if (this.#bytes < PREFIX_BYTES) return;
      const prefix = this.#peek(PREFIX_BYTES);
      const headerBytes = prefix.readUInt32BE(0);
      const bodyBytes = prefix.readUInt32BE(4);
      if (headerBytes > HEADER_BYTES_MAX || bodyBytes > BODY_BYTES_MAX)
        throw new RangeError('the message exceeds the limit');
      const whole = PREFIX_BYTES + headerBytes + bodyBytes;
      if (this.#bytes < whole) return;
      const frame = this.#peek(whole);
      this.#pieces =
        this.#pieces[0]!.length > whole
          ? [this.#pieces[0]!.subarray(whole), ...this.#pieces.slice(1)]
          : this.#pieces.slice(1);
      this.#bytes -= whole;
      yield {
        header: JSON.parse(frame.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + headerBytes)) as unknown,
        body: frame.subarray(PREFIX_BYTES + headerBytes),
      };
    }
  }

  /** The first `bytes` bytes in one piece, which stays the first piece. */
  #peek(bytes: number): Buffer {
    if (this.#pieces[0]!.length < bytes) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!.subarray(0, bytes);
  }
}
