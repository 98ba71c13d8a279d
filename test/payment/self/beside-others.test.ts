import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import type { Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import { noChain, startChain } from '../chain/chain.ts';
import { PAY_TO, PRICE } from '../rig/payments.ts';
import { openSelfRig, pay, TERMS } from './self-rig.ts';

/** This server among the facilitators of `FARTHING_FACILITATOR`, on one chain with a real one. */

const AWAY = 'http://127.0.0.1:9';

t.test(
  'who is first and cannot settle leaves it to the next; nobody pays twice',
  { skip: noChain ?? false },
  async (t) => {
    const chain = await startChain(t);
    const other = await chain.facilitator();
    const [rich, empty] = [await chain.gasKey(), await chain.gasKey(0n)];
    for (const [name, options, settler] of [
      ['self without gas, then another', { key: empty, further: [other.url] }, other.url],
      ['one that is away, then self', { key: rich, first: [AWAY] }, 'self'],
      ['self, then another', { key: rich, further: [other.url] }, 'self'],
      ['another, then self', { key: rich, first: [other.url] }, other.url],
    ] as const) {
      const rig = await openSelfRig(t, { chain, ...options });
      const before = await chain.balance(PAY_TO);
      const address = privateKeyToAddress(options.key);
      const sent = await chain.control.getTransactionCount({ address });
      const payment = await pay(chain);
      t.same(await rig.facilitator.verify(payment, TERMS), { valid: true }, name);
      const settled = await rig.facilitator.settle(payment, TERMS);
      t.match(settled, { kind: 'settled', by: { facilitator: settler } }, name);
      const again = await rig.facilitator.reconcile(payment, TERMS);
      // The chain does not tell which other one it was.
      const { by, ...told } = settled as Extract<Settlement, { kind: 'settled' }>;
      t.match(again, settler === 'self' ? { ...told, by } : told, name);
      t.equal((await chain.balance(PAY_TO)) - before, PRICE, name);
      t.equal(
        (await chain.control.getTransactionCount({ address })) - sent,
        settler === 'self' ? 1 : 0,
        name,
      );
      await rig.close();
    }
  },
);

t.test(
  'a settlement that another made and whose answer is lost is not made again',
  { skip: noChain ?? false },
  async (t) => {
    const chain = await startChain(t);
    const other = await chain.facilitator();
    const { facilitator } = await openSelfRig(t, { chain, first: [other.url] });
    const payment = await pay(chain);
    await other.behave('drops_after');
    t.match(await facilitator.settle(payment, TERMS), { kind: 'settled' });
    t.equal(await chain.balance(PAY_TO), PRICE);
  },
);
