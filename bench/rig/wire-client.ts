import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  readonly status: number;
  readonly body: string;
  /** From the request written to the answer read. */
  readonly ms: number;
}

/** One connection that is kept open, with one request at a time and as little processor time as a client can take. */
export class WireClient {
  readonly #socket: Socket;
  readonly #host: string;
  #buffer: Buffer = Buffer.alloc(0);
  #started = 0;
  #resolve: ((answer: WireAnswer) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  /** The server has said that it closes the connection behind this answer. */
  #isLast = false;

  static async open(url: string): Promise<WireClient> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise<void>((ready, failed) => socket.once('connect', ready).once('error', failed));
    return new WireClient(socket, host);
  }

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (bytes) => this.#read(bytes));
    for (const event of ['error', 'close'])
      socket.on(event, () => this.#reject?.(new Error('the connection was closed')));
  }

  send(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<WireAnswer> {
    const lines = Object.entries({
      Host: this.#host,
      'Content-Length': String(Buffer.byteLength(body)),
      ...headers,
    });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return new Promise((resolve, reject) => {
      if (!this.open) return reject(new Error('the connection was closed'));
      [this.#resolve, this.#reject] = [resolve, reject];
      this.#started = performance.now();
      this.#socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
    });
  }

  #read(bytes: Buffer): void {
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, bytes]) : bytes;
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#buffer.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#buffer.length < end + 4 + length) return;
    const body = this.#buffer.toString('utf8', end + 4, end + 4 + length);
    if (this.#buffer.length > end + 4 + length) this.#reject?.(new Error('more than one answer came'));
    this.#buffer = Buffer.alloc(0);
    this.#isLast = /^connection: close\r?$/im.test(head);
    const answer = { status: Number(head.slice(9, 12)), body, ms: performance.now() - this.#started };
    const resolve = this.#resolve;
    [this.#resolve, this.#reject] = [undefined, undefined];
    resolve?.(answer);
  }

  /** False once either side has closed it, or the server is about to. */
  get open(): boolean {
    return !this.#isLast && this.#socket.readyState === 'open';
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }
}
