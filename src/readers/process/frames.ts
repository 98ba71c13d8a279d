/**
 * A message between the server and a child process, over one pipe: the lengths of header and body (two unsigned 32-bit
 * integers, big endian), the header as JSON, the body as raw bytes. JSON is harmless to parse, also from a child that was
 * taken over.
 */
export interface Frame {
  readonly header: unknown;
  readonly body: Buffer;
}

/** The child's descriptor of the pipe. */
export const PIPE = 3;

export const HEADER_BYTES_MAX = 4 * 2 ** 20;
export const BODY_BYTES_MAX = 64 * 2 ** 20;

const PREFIX_BYTES = 8;

export function encodeFrame(header: object, body: Uint8Array = new Uint8Array()): Buffer[] {
  const json = Buffer.from(JSON.stringify(header));
  if (json.length > HEADER_BYTES_MAX || body.length > BODY_BYTES_MAX)
    throw new RangeError('the message exceeds the limit');
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return [prefix, json, Buffer.from(body.buffer, body.byteOffset, body.byteLength)];
}

/** Joins the pieces of a pipe to frames. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** @returns the frames that are complete now. @throws RangeError over a limit, SyntaxError for a broken header. */
  *push(piece: Buffer): Generator<Frame> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    for (;;) {
      if (this.#bytes < PREFIX_BYTES) return;
      const prefix = this.#peek(PREFIX_BYTES);
      const headerBytes = prefix.readUInt32BE(0);
      const bodyBytes = prefix.readUInt32BE(4);
      if (headerBytes > HEADER_BYTES_MAX || bodyBytes > BODY_BYTES_MAX)
        throw new RangeError('the message exceeds the limit');
      const whole = PREFIX_BYTES + headerBytes + bodyBytes;
      if (this.#bytes < whole) return;
      const frame = this.#peek(whole);
      this.#pieces =
        this.#pieces[0]!.length > whole
          ? [this.#pieces[0]!.subarray(whole), ...this.#pieces.slice(1)]
          : this.#pieces.slice(1);
      this.#bytes -= whole;
      yield {
        header: JSON.parse(frame.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + headerBytes)) as unknown,
        body: frame.subarray(PREFIX_BYTES + headerBytes),
      };
    }
  }

  /** The first `bytes` bytes in one piece, which stays the first piece. */
  #peek(bytes: number): Buffer {
    if (this.#pieces[0]!.length < bytes) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!.subarray(0, bytes);
  }
}
