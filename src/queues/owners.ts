import { forgetOldest } from './forget-oldest.ts';
import type { Address } from '@farthing/protocol/address';
import { isPayer, payerTenantId, type TenantId, type WorkspaceId, walletOf } from '@farthing/protocol/id';

/** All whose wallets have not paid: a wallet costs nothing, so they share as one. */
const UNPROVEN = 'unproven';

/** Wallets that are known to have paid, and workspaces whose payer is known: about 100 bytes each. */
const REMEMBERED_MAX = 100_000;

/**
 * Who pays. Every limit and turn is shared by owner: the wallet that paid for a workspace, or that pays for requests. Many Tenants of one
 * wallet have one share, and all that never paid have one together.
 */
export class Owners {
  readonly #paid = new Set<Address>();
  readonly #payers = new Map<WorkspaceId, string>();
  readonly #books = new Set<(workspace: WorkspaceId) => Address | undefined>();

  /** Adds the workspaces of one set of books. @returns takes them out again */
  join(payerOf: (workspace: WorkspaceId) => Address | undefined): () => void {
    this.#books.add(payerOf);
    return () => void this.#books.delete(payerOf);
  }

  /** The owner of a Tenant. A workspace whose payer was not stored owns itself; what is no Tenant stays as it is. */
  of(tenant: string): string {
    const id = tenant as TenantId;
    if (isPayer(id)) return this.knows(walletOf(id)) ? id : UNPROVEN;
    const known = this.#payers.get(id);
    if (known !== undefined) return known;
    for (const payerOf of this.#books) {
      const payer = payerOf(id);
      if (payer === undefined) continue;
      const owner = payerTenantId(payer);
      this.#payers.set(id, owner);
      forgetOldest(this.#payers, REMEMBERED_MAX);
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
