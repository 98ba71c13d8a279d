import type { Block } from '../../domain/document.ts';
import { withoutControls } from './charset.ts';

const HEADING_LENGTH_MAX = 200;
const TITLE_LENGTH_MAX = 300;

/** A document's text in sections, as it is read: headings and what stands below them. */
export class Outline {
  readonly #blocks: Block[] = [];
  readonly #path: { level: number; text: string }[] = [];
  #title: string | undefined;
  #paragraphs: string[] = [];

  constructor(title?: string) {
    this.#title = title === undefined ? undefined : shorten(title, TITLE_LENGTH_MAX);
  }

  /** Starts a section. The first heading of the highest kind names a document that has no title yet. */
  heading(level: number, text: string): void {
    const words = shorten(withoutControls(text), HEADING_LENGTH_MAX);
    if (words === '') return;
    this.#close();
    while (this.#path.length > 0 && this.#path.at(-1)!.level >= level) this.#path.pop();
    if (this.#title === undefined && this.#blocks.length === 0) {
      // Every passage carries the title: as a heading above all of them it would only be repeated.
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
    // A document that is its title alone still has to be found by it.
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

/** One line, without the white space around and between, of at most so many characters. */
export function shorten(text: string, lengthMax: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= lengthMax
    ? line
    : line
        .slice(0, lengthMax)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd();
}
