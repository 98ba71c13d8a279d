import { setPriority } from 'node:os';
import { attack } from './attacks.ts';
import type { Target } from './requests.ts';

/**
 * A process that carries out one attack. It says when it is ready; its parent tells which attack; it says when that has begun; its parent
 * ends it by a second message; then it reports its processor seconds. A real attacker has a machine of his own: here the attacker takes what the server and the client leave
 * of the processor.
 */
export interface AttackOrder {
  readonly name: string;
  readonly target: Target;
}

const ATTACKER_PRIORITY = 10;

setPriority(ATTACKER_PRIORITY);
const over = new AbortController();
process.send?.('ready');
process.once('message', (order: AttackOrder) => {
  process.once('message', () => over.abort());
  void attack(order.name, order.target, over.signal, () => process.send?.('begun')).then(() => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1e6, () => process.disconnect());
  });
});
