import type { Exchange } from '../exchange/exchange.ts';
import { credentialsOf } from './paid.ts';
import type { ServicesBySlot } from './services.ts';
import { bearerToken } from './workspace-access.ts';

const WORKSPACE = /^\/agent\/v1\/workspaces\/([^/]+)/;
/** Strangers, however many tokens and payments they make up. */
const ANYBODY = '';

/**
 * Whose turn a request takes where many came at once: that of the workspace whose token it brings, of a wallet that has paid before, or
 * of all others together.
 */
export function senderOf(slots: ServicesBySlot, exchange: Pick<Exchange, 'head' | 'header'>): string {
  const token = bearerToken(exchange);
  // Which wallets have paid, all slots know.
  if (token === undefined) return slots.all[0].gate.knownPayer(credentialsOf(exchange)) ?? ANYBODY;
  const { path, query } = exchange.head;
  const workspace = WORKSPACE.exec(path)?.[1] ?? new URLSearchParams(query).get('workspace');
  return workspace && slots.of(workspace).workspaces.tokenOpens(workspace, token) ? workspace : ANYBODY;
}
