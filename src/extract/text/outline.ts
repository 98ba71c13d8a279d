import type { Block } from '../../domain/document.ts';
import { withoutControls } from './charset.ts';

const HEADING_LENGTH_MAX = 200;
const TITLE_LENGTH_MAX = 300;

/** Collects a document's text in sections: headings with the paragraphs below them. */
export class Outline {
  readonly #blocks: Block[] = [];
  readonly #path: { level: number; text: string }[] = [];
  #title: string | undefined;
  #paragraphs: string[] = [];

  constructor(title?: string) {
    this.#title = title === undefined ? undefined : shorten(title, TITLE_LENGTH_MAX);
  }

  /** Starts a section. A heading before any text is the title of a document without one. */
  heading(level: number, text: string): void {
    const words = shorten(withoutControls(text), HEADING_LENGTH_MAX);
    if (words === '') return;
    this.#close();
    while (this.#path.length > 0 && this.#path.at(-1)!.level >= level) this.#path.pop();
    if (this.#title === undefined && this.#blocks.length === 0) {
      // Every passage carries the title: as a heading it would only repeat it.
      this.#title = words;
      return;
    }
    if (words === this.#title) return;
    this.#path.push({ level, text: words });
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

/** The text as one line with single spaces, cut to at most `lengthMax` characters. */
export function shorten(text: string, lengthMax: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= lengthMax
    ? line
    : line
        .slice(0, lengthMax)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd();
}
