import { hash } from 'node:crypto';

const REMEMBERED_MAX = 4096;

/** Digests of tokens that opened their workspaces at other servers, the latest last. They open nothing here: their holders are no strangers. */
export class KnownElsewhere {
  readonly #opened = new Set<string>();

  remember(workspace: string, token: string): void {
    const digest = digestOf(workspace, token);
    this.#opened.delete(digest);
    this.#opened.add(digest);
    if (this.#opened.size > REMEMBERED_MAX) this.#opened.delete(this.#opened.values().next().value!);
  }

  /** The workspace has ended, or never had this token. */
  forget(workspace: string, token: string): void {
    this.#opened.delete(digestOf(workspace, token));
  }

  opens(workspace: string, token: string): boolean {
    return this.#opened.has(digestOf(workspace, token));
  }
}

function digestOf(workspace: string, token: string): string {
  return hash('sha256', `${workspace} ${token}`, 'base64');
}
