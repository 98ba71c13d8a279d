import { beginning } from '@farthing/protocol/brief';
import type { Block } from '@farthing/protocol/document';
import type { Sink } from '../reading/sink.ts';
import { withoutControls } from './charset.ts';

/** Of a step of a heading's path: a longer one stands whole in the text. */
const HEADING_LENGTH_MAX = 200;
/** Every passage carries the title: a longer one stands whole in the text. */
export const TITLE_LENGTH_MAX = 300;

/** Collects a document's text in sections: headings with the paragraphs below them. */
export class Outline {
  readonly #blocks: Block[] = [];
  readonly #path: { level: number; text: string }[] = [];
  #title: string | undefined;
  #paragraphs: string[] = [];

  constructor(title?: string) {
    this.#title = title;
  }

  /** Starts a section. A heading before any text is the title of a document without one. */
  heading(level: number, text: string): void {
    const words = oneLine(withoutControls(text));
    if (words === '') return;
    this.#close();
    while (this.#path.length > 0 && this.#path.at(-1)!.level >= level) this.#path.pop();
    if (this.#title === undefined && this.#blocks.length === 0 && words.length <= TITLE_LENGTH_MAX) {
      // As a heading it would only repeat what every passage carries.
      this.#title = words;
      return;
    }
    if (words === this.#title) return;
    this.#path.push({ level, text: shorten(words, HEADING_LENGTH_MAX) });
    this.#paragraphs.push(words);
  }

  paragraph(text: string): void {
    const trimmed = withoutControls(text).trim();
    if (trimmed !== '') this.#paragraphs.push(trimmed);
  }

  finish(): { title?: string; blocks: Block[] } {
    this.#close();
    // A document that is a title alone is found by it.
    if (this.#blocks.length === 0 && this.#title !== undefined) this.#blocks.push({ text: this.#title });
    return { title: this.#title, blocks: this.#blocks };
  }

  #close(): void {
    const text = this.#paragraphs.join('\n\n');
    this.#paragraphs = [];
    if (text === '') return;
    const heading = this.#path.map((step) => step.text).join(' › ');
    this.#blocks.push(heading === '' ? { text } : { text, heading });
  }
}

/** The text as one line with single spaces. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * The text as one line with single spaces, cut to at most `lengthMax` characters.
 * @param report absent where all of it stands elsewhere in the text
 */
export function shorten(text: string, lengthMax: number, report?: Sink['notRead']): string {
  return cut(oneLine(text), lengthMax, report).trimEnd();
}

/** At most `lengthMax` characters of the text. @param report gets a text that is cut */
export function cut(text: string, lengthMax: number, report?: Sink['notRead']): string {
  if (text.length <= lengthMax) return text;
  report?.('text', 'limit', 1);
  return beginning(text, lengthMax);
}
