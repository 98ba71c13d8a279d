/** A JSON array as bytes. It goes to the socket unparsed; `toJSON` parses it, also for `JSON.stringify`. */
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
