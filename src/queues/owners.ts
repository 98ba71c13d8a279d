import type { Address } from '@farthing/protocol/address';
import { isPayer, type TenantId, type WorkspaceId, walletOf } from '@farthing/protocol/id';
import { forgetOldest } from './forget-oldest.ts';

/** All whose wallets have not paid: a wallet costs nothing, so they share as one. */
const UNPROVEN = 'unproven';

/** Wallets that are known to have paid, and workspaces whose owner is known: about 100 bytes each. */
const REMEMBERED_MAX = 100_000;

/**
 * Who pays. Every limit and turn is shared by owner: the wallet that paid for a workspace, or that pays for requests. Many Tenants of one
 * wallet have one share, all that never paid have one together, and so have the workspaces of the house.
 */
export class Owners {
  readonly #paid = new Set<Address>();
  readonly #ofWorkspaces = new Map<WorkspaceId, string>();
  readonly #books = new Set<(workspace: WorkspaceId) => string | undefined>();

  /** Adds the workspaces of one set of books. @returns takes them out again */
  join(ownerOf: (workspace: WorkspaceId) => string | undefined): () => void {
    this.#books.add(ownerOf);
    return () => void this.#books.delete(ownerOf);
  }

  /** The owner of a Tenant. A workspace whose payer was not stored owns itself; what is no Tenant stays as it is. */
  of(tenant: string): string {
    const id = tenant as TenantId;
    if (isPayer(id)) return this.knows(walletOf(id)) ? id : UNPROVEN;
    const known = this.#ofWorkspaces.get(id);
    if (known !== undefined) return known;
    for (const ownerOf of this.#books) {
      const owner = ownerOf(id);
      if (owner === undefined) continue;
      this.#ofWorkspaces.set(id, owner);
      forgetOldest(this.#ofWorkspaces, REMEMBERED_MAX);
      return owner;
    }
    return tenant;
  }

  /** True for a wallet that has paid of late: since the start, or among the newest payments of the books. */
  knows(payer: Address): boolean {
    return this.#paid.has(payer);
  }

  /** The wallet was charged: from now on it is known. The one that paid longest ago is forgotten first. */
  markPaying(payer: Address): void {
    this.#paid.delete(payer);
    this.#paid.add(payer);
    forgetOldest(this.#paid, REMEMBERED_MAX);
  }
}
