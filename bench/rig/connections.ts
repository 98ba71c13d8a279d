import { type WireAnswer, WireClient } from './wire-client.ts';

/** Connections to one server, kept open and shared; a request waits when all of the greatest number are busy. */
export class Connections {
  readonly #url: string;
  readonly #max: number;
  readonly #idle: WireClient[] = [];
  readonly #waiting: ((client: WireClient | undefined) => void)[] = [];
  #opened = 0;

  constructor(url: string, max: number) {
    this.#url = url;
    this.#max = max;
  }

  /** @throws when the connection ends before its answer. */
  async send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<WireAnswer> {
    const client = await this.#take();
    try {
      const answer = await client.send(method, path, headers, body);
      this.#giveBack(client);
      return answer;
    } catch (error) {
      client.close();
      this.#opened -= 1;
      this.#waiting.shift()?.(undefined);
      throw error;
    }
  }

  async #take(): Promise<WireClient> {
    for (let client = this.#idle.pop(); client; client = this.#idle.pop()) {
      if (client.open) return client;
      this.#opened -= 1;
    }
    if (this.#opened >= this.#max) {
      const given = await new Promise<WireClient | undefined>((resolve) => this.#waiting.push(resolve));
      if (given) return given;
      return this.#take();
    }
    this.#opened += 1;
    try {
      return await WireClient.open(this.#url);
    } catch (error) {
      this.#opened -= 1;
      throw error;
    }
  }

  #giveBack(client: WireClient): void {
    const next = this.#waiting.shift();
    if (!client.open) {
      client.close();
      this.#opened -= 1;
      next?.(undefined);
      return;
    }
    if (next) next(client);
    else this.#idle.push(client);
  }

  close(): void {
    for (const client of this.#idle) client.close();
  }
}
