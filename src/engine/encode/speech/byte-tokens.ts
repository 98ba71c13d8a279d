/** The part that is read of a `tokenizer.json` with a byte-level vocabulary, as GPT-2 and Whisper have it. */
interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens?: readonly {
    readonly id: number;
    readonly content: string;
    readonly special: boolean;
  }[];
}

/** Bytes that the vocabulary writes as themselves; the others are written as letters from 256 on, in order. */
const PRINTABLE: readonly (readonly [number, number])[] = [
  [33, 126],
  [161, 172],
  [174, 255],
];

/** Turns tokens back into text. */
export class ByteTokens {
  readonly #bytes = new Map<number, Uint8Array>();
  readonly #special = new Map<string, number>();
  readonly #names = new Map<number, string>();

  /** @param json content of a `tokenizer.json` */
  constructor(json: string) {
    const { model, added_tokens = [] } = JSON.parse(json) as TokenizerFile;
    const byteOf = lettersToBytes();
    for (const { id, content, special } of added_tokens) {
      if (!special) continue;
      this.#special.set(content, id);
      this.#names.set(id, content);
    }
    for (const [letters, id] of Object.entries(model.vocab)) {
      if (this.#names.has(id)) continue;
      this.#bytes.set(
        id,
        Uint8Array.from([...letters], (letter) => byteOf.get(letter) ?? 0x3f),
      );
    }
  }

  /** Number of a special token. */
  special(content: string): number | undefined {
    return this.#special.get(content);
  }

  /** Content of a special token. */
  nameOf(id: number): string | undefined {
    return this.#names.get(id);
  }

  /** Special tokens are left out; an incomplete character becomes U+FFFD. */
  text(ids: readonly number[]): string {
    return Buffer.concat(ids.flatMap((id) => this.#bytes.get(id) ?? [])).toString('utf8');
  }
}

function lettersToBytes(): Map<string, number> {
  const letters = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = PRINTABLE.some(([from, to]) => byte >= from && byte <= to);
    letters.set(String.fromCodePoint(isPrintable ? byte : next++), byte);
  }
  return letters;
}
