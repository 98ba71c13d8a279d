import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type {
  Block,
  ExtractLimits,
  PictureContent,
  PictureSpec,
  UnpackedMember,
} from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { printable } from '@farthing/protocol/file/file-name';
import type { Reply } from './messages.ts';

/** Collects the contents that a reader process sends. It enforces the limits once more: the process may have been taken over. */
export class Collector {
  readonly blocks: Block[] = [];
  readonly pictures: PictureContent[] = [];
  readonly #limits: ExtractLimits;
  readonly #pixelBytes: number;
  readonly #onProgress: ((fraction: number) => void) | undefined;
  readonly #picturesMax: number;
  #characters = 0;

  constructor(
    limits: ExtractLimits,
    spec: PictureSpec | undefined,
    onProgress: ((fraction: number) => void) | undefined,
  ) {
    this.#limits = limits;
    this.#picturesMax = Math.max(limits.pagePicturesMax, limits.shotsMax);
    this.#pixelBytes = spec ? spec.width * spec.height * 3 : 0;
    this.#onProgress = onProgress;
  }

  take(reply: Reply): void {
    if (reply.reply === 'progress') this.#onProgress?.(reply.fraction);
    else if (reply.reply === 'blocks') this.#takeBlocks(reply.blocks);
    else if (reply.reply === 'picture') this.#takePicture(reply.picture);
  }

  #takeBlocks(blocks: readonly Block[]): void {
    for (const block of blocks) {
      // A mark takes more memory than the characters that it stands for.
      this.#characters += block.text.length + (block.marks?.length ?? 0);
      this.blocks.push(block);
    }
    if (this.#characters > this.#limits.charactersMax * 2 || this.blocks.length > this.#limits.charactersMax)
      throw broken();
  }

  #takePicture(picture: PictureContent): void {
    if (picture.pixels.rgb.length !== this.#pixelBytes || this.pictures.length > this.#picturesMax)
      throw broken();
    this.pictures.push(picture);
  }
}

/** Characters that are kept of a member's path: its end, which says what the file is. Its content is read whole. */
const PATH_LENGTH_MAX = 1_000;

interface MemberWriterOptions {
  /** Members that were counted when the archive was opened. */
  readonly membersMax: number;
  readonly limits: ExtractLimits;
  readonly target: (index: number) => string;
  readonly onMember: (count: number) => void;
}

interface OpenMember {
  readonly index: number;
  readonly path: string;
  readonly file: FileHandle;
  readonly digest: Hash;
  bytes: number;
}

/** Writes the members that a reader process unpacks into files, one after the other. It enforces the limits once more. */
export class MemberWriter {
  readonly members: UnpackedMember[] = [];
  readonly #options: MemberWriterOptions;
  #current: OpenMember | undefined;
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: MemberWriterOptions) {
    this.#options = options;
  }

  /** Resolves when the piece is written. @throws extraction_failed for more than there may be; errors of the disk. */
  take(reply: Extract<Reply, { reply: 'member' }>): Promise<void> {
    this.#last = this.#last.then(() => this.#write(reply));
    return this.#last;
  }

  /** All members, once everything is written. */
  async finish(): Promise<readonly UnpackedMember[]> {
    await this.#last;
    return this.members;
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#current?.file.close();
    this.#current = undefined;
  }

  async #write({ path, piece, last, refused }: Extract<Reply, { reply: 'member' }>): Promise<void> {
    if (path !== undefined) await this.#begin(path);
    const current = this.#current;
    if (!current) throw broken();
    current.bytes += piece.length;
    this.#bytes += piece.length;
    const { bytesMax, archiveBytesMax } = this.#options.limits;
    if (current.bytes > bytesMax || this.#bytes > archiveBytesMax) throw broken();
    if (piece.length > 0) {
      current.digest.update(piece);
      await current.file.write(piece);
    }
    if (!last) return;
    this.#current = undefined;
    await current.file.close();
    const { index, bytes, digest } = current;
    this.members.push({
      index,
      path: current.path,
      bytes,
      sha256: digest.digest('hex'),
      ...(refused && { refused: { code: refused.code, detail: refused.detail } }),
    });
    this.#options.onMember(this.members.length);
  }

  async #begin(path: string): Promise<void> {
    const index = this.members.length;
    if (this.#current || index >= this.#options.membersMax) throw broken();
    const target = this.#options.target(index);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const file = await open(target, 'w', 0o600);
    this.#current = { index, path: cleanPath(path), file, digest: createHash('sha256'), bytes: 0 };
  }
}

/** A path inside an archive, without steps that lead outside and without invisible characters. */
export function cleanPath(path: string): string {
  const steps = path
    .split(/[\\/]/)
    .map(printable)
    .filter((step) => step !== '' && step !== '.' && step !== '..');
  return (
    steps
      .join('/')
      .slice(-PATH_LENGTH_MAX)
      .replace(/^[\udc00-\udfff]/, '') || 'file'
  );
}

/** A reader process sent what none sends that was not taken over. */
export function broken(): FarthingError {
  return new FarthingError('extraction_failed', 'The reader gave more than it may.');
}
