import { hash } from 'node:crypto';
import { forgetOldest } from '@farthing/queues/forget-oldest';

/** Digests of tokens that opened their workspaces, the latest last. They grant nothing; they only identify known clients. */
export class OpenedTokens {
  readonly #digests = new Set<string>();
  readonly #most: number;

  /** @param most how many are remembered; about 100 bytes each */
  constructor(most: number) {
    this.#most = most;
  }

  remember(workspace: string, token: string): void {
    const digest = digestOf(workspace, token);
    this.#digests.delete(digest);
    this.#digests.add(digest);
    forgetOldest(this.#digests, this.#most);
  }

  /** The workspace has ended, or never had this token. */
  forget(workspace: string, token: string): void {
    this.#digests.delete(digestOf(workspace, token));
  }

  has(workspace: string, token: string): boolean {
    return this.#digests.has(digestOf(workspace, token));
  }
}

function digestOf(workspace: string, token: string): string {
  return hash('sha256', `${workspace} ${token}`, 'base64');
}
