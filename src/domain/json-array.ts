/** A JSON array that is passed on as it was written. Whoever needs its values parses it: `JSON.stringify` does, too. */
export class JsonArray {
  static readonly EMPTY = new JsonArray(Buffer.from('[]'), 0);
  /** UTF-8. */
  readonly bytes: Uint8Array;
  /** Number of values. */
  readonly length: number;

  constructor(bytes: Uint8Array, length: number) {
    this.bytes = bytes;
    this.length = length;
  }

  toJSON(): unknown[] {
    return JSON.parse(new TextDecoder().decode(this.bytes)) as unknown[];
  }
}
