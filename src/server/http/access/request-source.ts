import { isHouseKey } from '@farthing/protocol/house';
import { payerTenantId } from '@farthing/protocol/id';
import { HOUSE } from '../../workspace/house/house-keys.ts';
import { type Exchange, hasCredentials } from '../exchange/exchange.ts';
import { type Forward, tokenOpens } from './forward.ts';
import { OpenedTokens } from './opened-tokens.ts';
import type { Services } from './services.ts';
import { bearerToken } from './workspace-access.ts';

const WORKSPACE = /^\/agent\/v1\/workspaces\/([^/]+)/;
/** All whose credentials prove nothing, however many tokens and payments they make up. */
const UNPROVEN = '';
/** Requests without credentials: an answer costs little, and waits behind no made-up payment. */
const UNPAID = 'unpaid';
/** Calls of other servers: they wait behind no client. */
const PEERS = 'peers';
const REMEMBERED_MAX = 1024;

interface SourceServices {
  readonly gate: Pick<Services['gate'], 'knownPayer' | 'owners'>;
  readonly house: Pick<NonNullable<Services['house']>, 'of'> | undefined;
}

/** Identifies the sender of a request, for fair queues. */
export class RequestSource {
  readonly #services: SourceServices;
  readonly #forward: Forward;
  /** Looking a token up in the store costs more than the rest. */
  readonly #opened = new OpenedTokens(REMEMBERED_MAX);

  constructor(services: SourceServices, forward: Forward) {
    this.#services = services;
    this.#forward = forward;
  }

  /**
   * The owner of the workspace whose token it has, the house, or a wallet that has paid before. All other requests with a payment or a token
   * count as one sender, and so do those without.
   */
  of(exchange: Pick<Exchange, 'head' | 'header' | 'payment'>): string {
    if (this.#forward.isPeerCall(exchange)) return PEERS;
    if (!hasCredentials(exchange)) return UNPAID;
    const { gate, house } = this.#services;
    const token = bearerToken(exchange);
    // All gates of a process share the wallets that have paid.
    if (token === undefined) {
      const payer = gate.knownPayer(exchange.payment);
      return payer ? payerTenantId(payer) : UNPROVEN;
    }
    if (isHouseKey(token)) return house?.of(token) ? HOUSE : UNPROVEN;
    const { path, query } = exchange.head;
    const workspace = WORKSPACE.exec(path)?.[1] ?? new URLSearchParams(query).get('workspace');
    return workspace && this.#opens(workspace, token) ? gate.owners.of(workspace) : UNPROVEN;
  }

  #opens(workspace: string, token: string): boolean {
    if (this.#opened.has(workspace, token)) return true;
    if (!tokenOpens(this.#forward, workspace, token)) return false;
    // Another server may take back what it accepted.
    if (this.#forward.find(workspace)) this.#opened.remember(workspace, token);
    return true;
  }
}
