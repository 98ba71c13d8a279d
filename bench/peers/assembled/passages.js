import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';

const TOKENS_MAX = 256;
const SPECIAL_TOKENS = 2;

/** Cuts texts into passages of whole sentences that fit the model, the title before each. */
export class PassageCutter {
  #tokenizer;
  #sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

  constructor(modelFolder) {
    const definition = JSON.parse(readFileSync(join(modelFolder, 'tokenizer.json'), 'utf8'));
    this.#tokenizer = new Tokenizer(definition, {});
  }

  cut(markdown) {
    const [, heading, body] = /^# (.*)\n+([\s\S]*)$/.exec(markdown) ?? [undefined, '', markdown];
    const room = TOKENS_MAX - this.#count(heading);
    const passages = [];
    let [passage, tokens] = ['', 0];
    for (const { segment } of this.#sentences.segment(body.trim())) {
      const count = this.#count(segment);
      if (passage !== '' && tokens + count > room) {
        passages.push(passage);
        [passage, tokens] = ['', 0];
      }
      passage += segment;
      tokens += count;
    }
    if (passage.trim() !== '') passages.push(passage);
    return passages.map((text) => (heading === '' ? text : `${heading}\n${text}`));
  }

  #count(text) {
    return this.#tokenizer.encode(text).ids.length - SPECIAL_TOKENS;
  }
}
