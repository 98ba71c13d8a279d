import type { Block, ExtractLimits } from '@farthing/protocol/document';
import { tooManyCharacters } from './refusal.ts';
import type { Sink } from './sink.ts';

/** UTF-16 units of a block. Longer ones are split, so that no message exceeds its limit. */
export const BLOCK_LENGTH_MAX = 64 * 1024;

/** Gives blocks to the sink. @throws document_too_large once they have too many characters. */
export async function giveBlocks(blocks: readonly Block[], limits: ExtractLimits, sink: Sink): Promise<void> {
  let characters = 0;
  for (const block of blocks) {
    characters += block.text.length;
    if (characters > limits.charactersMax) throw tooManyCharacters(limits);
    await sink.block(block);
  }
}

/** The same sink for blocks of any length. */
export function splitting(sink: Sink): Sink {
  return {
    ...sink,
    block: async (block) => {
      for (let rest = block.text, from = 0; rest !== ''; ) {
        const end = rest.length <= BLOCK_LENGTH_MAX ? rest.length : splitAt(rest);
        const marks = block.marks
          ?.filter(({ at }) => at >= from && at < from + end)
          .map((mark) => ({ ...mark, at: mark.at - from }));
        await sink.block({ ...block, text: rest.slice(0, end), ...(marks && { marks }) });
        const left = rest.slice(end).trimStart();
        from += rest.length - left.length;
        rest = left;
      }
    },
  };
}

/** The last end of a paragraph, line, sentence or word within the limit; never inside a surrogate pair. */
function splitAt(text: string): number {
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = text.lastIndexOf(mark, BLOCK_LENGTH_MAX - mark.length);
    if (at > BLOCK_LENGTH_MAX / 2) return at + mark.length;
  }
  const isPair = /[\ud800-\udbff]/.test(text[BLOCK_LENGTH_MAX - 1]!);
  return isPair ? BLOCK_LENGTH_MAX - 1 : BLOCK_LENGTH_MAX;
}
