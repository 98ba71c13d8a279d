import { attack } from './attacks.ts';
import type { Target } from './requests.ts';

/**
 * A process that carries out one attack. It says when it is ready; its parent tells which attack, and ends it by a second message;
 * then it tells its processor seconds.
 */
export interface AttackOrder {
  readonly name: string;
  readonly target: Target;
}

const over = new AbortController();
process.send?.('ready');
process.once('message', (order: AttackOrder) => {
  process.once('message', () => over.abort());
  void attack(order.name, order.target, over.signal).then(() => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1e6, () => process.disconnect());
  });
});
