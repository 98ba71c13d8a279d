import type { Block, ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { Reply } from './messages.ts';

/** Collects the contents that a child sends. It enforces the child's limits once more: the child may have been taken over. */
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

/** A child sent what none sends that was not taken over. */
export function broken(): FarthingError {
  return new FarthingError('extraction_failed', 'The reader gave more than it may.');
}
