import { attack, type Target } from './attacks.ts';

/** A process that carries out one attack: its parent tells which, and ends it by a second message; it tells its processor seconds. */
export interface AttackOrder {
  readonly name: string;
  readonly target: Target;
}

const over = new AbortController();
process.once('message', (order: AttackOrder) => {
  process.once('message', () => over.abort());
  void attack(order.name, order.target, over.signal).then(() => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1e6, () => process.disconnect());
  });
});
