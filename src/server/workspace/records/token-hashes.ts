import { idFrom, type WorkspaceId } from '@farthing/protocol/id';
import type { Store, Table } from '../../state/store.ts';
import { hashOfToken, newToken } from './token.ts';

interface TokenHash {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
}

/** The row of this id holds the hash of an unknown token. The other id never gets a row. */
const DECOY = idFrom('workspace', 'f'.repeat(32));
const ABSENT = idFrom('workspace', 'e'.repeat(32));

/**
 * Hashes of the workspaces' tokens. They have a table to themselves, so that looking up an unknown id costs what a known
 * one's does. Writes belong in the transaction of the record.
 */
export class TokenHashes {
  readonly #table: Table<TokenHash>;

  constructor(store: Store) {
    this.#table = store.table('workspace_tokens');
    if (!this.#table.get(DECOY)) void this.#table.put(DECOY, { hash: hashOfToken(newToken()) });
  }

  /** The hash of the workspace's token. An unknown id gets the decoy's, after one hit and one miss like any other. */
  get(id: WorkspaceId): string | undefined {
    const known = this.#table.get(id);
    const other = this.#table.get(known ? ABSENT : DECOY);
    return (known ?? other)?.hash;
  }

  /** The hash alone; undefined for an unknown id. */
  of(id: WorkspaceId): string | undefined {
    return this.#table.get(id)?.hash;
  }

  put(id: WorkspaceId, hash: string): void {
    void this.#table.put(id, { hash });
  }

  remove(id: WorkspaceId): void {
    void this.#table.remove(id);
  }
}
