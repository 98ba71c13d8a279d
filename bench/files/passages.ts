import { join } from 'node:path';
import { native } from '../../src/native/index.ts';
import type { Block } from '../../src/protocol/document.ts';

const TOKENIZER = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2/tokenizer.json');

/** What the server encodes of a document's pages. */
export async function passagesOfBlocks(
  title: string | undefined,
  blocks: readonly Block[],
): Promise<string[]> {
  const cutter = new native.PassageCutter(TOKENIZER, { limit: 256, specialTokens: true, dropped: [] }, '');
  const cut = await Promise.all(
    blocks.map(({ text, page }) =>
      cutter.cut(title, [{ text, start: 0, ...(page !== undefined && { page }) }]),
    ),
  );
  return cut.flat().map(({ words }) => words);
}
