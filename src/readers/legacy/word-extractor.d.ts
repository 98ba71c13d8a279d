declare module 'word-extractor' {
  /** The parts of a Word document, as text. */
  interface Document {
    getBody(): string;
    getFootnotes(): string;
    getEndnotes(): string;
    getHeaders(): string;
    getAnnotations(): string;
    getTextboxes(): string;
  }

  export default class WordExtractor {
    extract(source: Buffer): Promise<Document>;
  }
}
