import t from 'tap';
import type { Hex } from 'viem';
import { Farthing } from '../../../../src/client/index.ts';
import { transferCall } from '../../../../src/payment/self/transfer-call.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { paymentOf, sign, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { startPaidServer } from '../../start/payment/paid-server.ts';
import { runCommand } from './run-command.ts';

/** Prepaid money that is had back: the operator's note of it is held against the chain. */

t.test(
  'a refund is noted once the chain shows its money, and a transaction pays no more than it moved',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, server } = await startPaidServer(t);
    const note = (id: string, transaction: string) =>
      runCommand({ FARTHING_DATA_DIR: server.dataFolder }, ['prepaid', 'refunded', id, transaction]);
    const account = wallet();
    const farthing = new Farthing({ baseUrl: server.url, account, maxPriceUsd: '1' });
    await chain.mint(account.address, 1_000_000n);
    await farthing.prepay('0.5');
    const ids: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) ids.push((await farthing.refundPrepaid('0.1')).id);
    const [first, second, third, fourth] = ids as [string, string, string, string];

    const operator = wallet();
    await chain.mint(operator.address, 1_000_000n);
    const pay = async (to: Hex, value: bigint) =>
      chain.send(
        transferCall(paymentOf({ paymentSignature: v2Header(await sign(operator, { to, value })) })).data,
      );
    const refused = async (id: string, transaction: string, why: RegExp) =>
      t.match(await note(id, transaction), { status: 1, explained: why });

    await refused(first, `0x${'ab'.repeat(32)}`, /it is in no block yet.*Nothing is noted/);
    await refused(first, await pay(wallet().address, 100_000n), /moved 0 USDC to .*, not 0\.1/);
    await refused(first, await pay(account.address, 99_999n), /moved 0\.099999 USDC/);
    const one = await pay(account.address, 100_000n);
    t.match(await note(first, one), { status: 0, explained: /is refunded\. Block \d+ has the transfer/ });
    await refused(first, one, /no refund .* that is due/);
    await refused(second, one, /moved 0\.1 USDC to .*, not 0\.2/);
    const two = await pay(account.address, 200_000n);
    t.match(await note(second, two.toUpperCase().replace('X', 'x')), { status: 0 });
    t.match(await note(third, two), { status: 0 }, 'one transaction with the money of two');
    await refused(fourth, two, /moved 0\.2 USDC to .*, not 0\.3/);
  },
);
