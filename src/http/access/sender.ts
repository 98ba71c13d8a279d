import { hash } from 'node:crypto';
import type { KnownElsewhere } from '../../cluster/forward/known-elsewhere.ts';
import { callerOf } from '../../cluster/peers/peer-caller.ts';
import type { PeerSignatures } from '../../cluster/peers/peer-signature.ts';
import { type Exchange, hasCredentials } from '../exchange/exchange.ts';
import type { ServicesBySlot } from './services.ts';
import { bearerToken } from './workspace-access.ts';

const WORKSPACE = /^\/agent\/v1\/workspaces\/([^/]+)/;
/** Strangers, however many tokens and payments they make up. */
const ANYBODY = '';
/** Who brings neither: an answer costs little, and waits behind no made-up payment. */
const UNPAID = 'unpaid';
/** Calls of other servers: they wait behind no client. */
const PEERS = 'peers';
const REMEMBERED_MAX = 1024;

/** Where other servers have slots. */
export interface Elsewhere {
  /** Tokens that they accepted. */
  readonly known: KnownElsewhere;
  readonly signatures: PeerSignatures;
}

/** Tells whose turn a request takes where many came at once. */
export class Senders {
  readonly #slots: ServicesBySlot;
  readonly #elsewhere: Elsewhere | undefined;
  /** Digests of workspaces with tokens that opened them, the latest last: looking one up costs more than the rest. It opens nothing here. */
  readonly #opened = new Set<string>();

  constructor(slots: ServicesBySlot, elsewhere?: Elsewhere) {
    this.#slots = slots;
    this.#elsewhere = elsewhere;
  }

  /**
   * The workspace whose token it brings, a wallet that has paid before, or one sender for all others together who bring a payment or a
   * token, and one for those who bring nothing.
   */
  of(exchange: Pick<Exchange, 'head' | 'header' | 'payment'>): string {
    if (this.#elsewhere && callerOf(exchange, this.#elsewhere.signatures) !== undefined) return PEERS;
    if (!hasCredentials(exchange)) return UNPAID;
    const token = bearerToken(exchange);
    // Which wallets have paid, all slots know.
    if (token === undefined) return this.#slots.front.gate.knownPayer(exchange.payment) ?? ANYBODY;
    const { path, query } = exchange.head;
    const workspace = WORKSPACE.exec(path)?.[1] ?? new URLSearchParams(query).get('workspace');
    return workspace && this.#opens(workspace, token) ? workspace : ANYBODY;
  }

  #opens(workspace: string, token: string): boolean {
    const digest = hash('sha256', `${workspace} ${token}`, 'base64');
    if (this.#opened.has(digest)) return true;
    const place = this.#slots.of(workspace);
    if ('peer' in place) return this.#elsewhere?.known.opens(workspace, token) ?? false;
    if (!('services' in place && place.services.workspaces.tokenOpens(workspace, token))) return false;
    this.#opened.add(digest);
    if (this.#opened.size > REMEMBERED_MAX) this.#opened.delete(this.#opened.values().next().value!);
    return true;
  }
}
