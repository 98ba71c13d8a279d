import type { Block } from '@farthing/protocol/document';
import { oneLine, shorten } from './outline.ts';

/** Where a document's links lead. Amid its sentences the addresses would tear them apart: they are a section at the end. */
export class Links {
  readonly #targets = new Map<string, string>();
  #left = 0;

  /** @param words what is clicked on @param target relative ones and places in the same document are no addresses */
  add(words: string, target: string): void {
    const address = target.trim().replace(/^mailto:([^?]*).*$/is, '$1');
    const isAddress = /^(?:(?:https?|ftp):\/\/|tel:|geo:)\S|^[^\s@/]+@[^\s@/]+$/i.test(address);
    if (!isAddress || address.length > ADDRESS_LENGTH_MAX || this.#targets.has(address)) return;
    if (this.#targets.size >= LINKS_MAX) this.#left++;
    else this.#targets.set(address, shorten(words, WORDS_LENGTH_MAX));
  }

  /** Links beyond the limit. */
  get left(): number {
    return this.#left;
  }

  /** Those whose address the text itself does not say. */
  blocks(text: readonly Block[]): Block[] {
    const said = text.map((block) => block.text).join('\n');
    const lines = [...this.#targets].flatMap(([address, words]) => {
      if (said.includes(address)) return [];
      return [words === '' ? address : `${oneLine(words)}: ${address}`];
    });
    return lines.length === 0 ? [] : [{ text: lines.join('\n'), heading: 'Links' }];
  }
}

/** No document for people has more that matter. */
const LINKS_MAX = 1_000;
const ADDRESS_LENGTH_MAX = 2_000;
const WORDS_LENGTH_MAX = 100;
