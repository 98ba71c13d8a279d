import t, { type Test } from 'tap';
import type { EffectRef, WorkOutcome } from '../../../src/payment/purchase.ts';
import type { Address } from '../../../src/protocol/address.ts';
import type { WorkspaceId } from '../../../src/protocol/id.ts';
import { ReserveReturns } from '../../../src/server/purchases/reserve-returns.ts';
import { chargesOf } from '../../payment/rig/gate-rig.ts';
import { sign, v2Header } from '../../payment/rig/payments.ts';
import { codeOf } from '../../payment/rig/requests.ts';
import { TwoNodes } from './two-nodes.ts';

/** A wallet in one server's store pays for minutes of a workspace at another. */

async function opened(t: Test) {
  const nodes = await TwoNodes.open(t);
  nodes.startPayers();
  return nodes;
}

const signed = async ({ account }: TwoNodes) => v2Header(await sign(account));

/** Pays, and says that the answer has arrived. */
async function bought(nodes: TwoNodes, payment: string) {
  const answer = await nodes.rig.gate.handle(nodes.request(payment));
  answer.delivered(true);
  return answer;
}

t.test('minutes of a workspace elsewhere are paid once and added once', async (t) => {
  const nodes = await opened(t);
  const answer = await bought(nodes, await signed(nodes));
  t.match(answer, { status: 200, body: { id: nodes.id, charged: true } });
  t.equal(await nodes.minutesPaid(), 30);
  t.equal(nodes.pending, 0);
  t.equal(chargesOf(nodes.rig), 1);
});

for (const fate of ['away', 'lost'] as const)
  t.test(
    `a workspace whose server is ${fate} when it is asked costs nothing, and the payment stays good`,
    async (t) => {
      const nodes = await opened(t);
      const payment = await signed(nodes);
      nodes.workspaces.fates.set('extension-extend', fate);
      t.equal(await codeOf(bought(nodes, payment)), 'interrupted');
      t.equal(chargesOf(nodes.rig), 0);
      nodes.workspaces.fates.clear();
      t.equal((await bought(nodes, payment)).status, 200);
      t.equal(chargesOf(nodes.rig), 1);
      await nodes.pass(31);
      t.equal(await nodes.minutesPaid(), 30, 'the lost one is gone');
      t.equal(nodes.pending, 0);
    },
  );

for (const fate of ['away', 'lost'] as const)
  t.test(`once it is paid, minutes are added when a server that was ${fate} is there again`, async (t) => {
    const nodes = await opened(t);
    nodes.workspaces.fates.set('extension-commit', fate);
    const payment = await signed(nodes);
    t.equal(await codeOf(bought(nodes, payment)), 'settlement_pending');
    t.equal(chargesOf(nodes.rig), 1);
    await nodes.pass(61);
    nodes.workspaces.fates.clear();
    // The client sends it again with a fresh payment, which stays unused.
    const again = await bought(nodes, await signed(nodes));
    t.match(again, { status: 200, body: { id: nodes.id } });
    t.equal(await nodes.minutesPaid(), 30);
    t.equal(chargesOf(nodes.rig), 1);
    t.equal(nodes.pending, 0);
  });

t.test(
  'of a crash between the purchase and its note, the minutes are asked for half a minute later, and undone',
  async (t) => {
    const nodes = await TwoNodes.open(t);
    nodes.startPayers({ dies: true });
    const { promise: isBought, resolve: buyer } = Promise.withResolvers<void>();
    // The process ends here.
    const run = async (): Promise<WorkOutcome> => {
      await nodes.buy();
      buyer();
      return new Promise(() => undefined);
    };
    void nodes.rig.gate.handle(nodes.request(await signed(nodes), { run }));
    await isBought;
    await nodes.pass(60);
    t.equal(nodes.pending, 1, 'it is under way, as far as anybody knows');
    nodes.startPayers();
    await nodes.rig.gate.recover();
    nodes.startOrphans();
    await nodes.pass(30);
    t.equal(nodes.pending, 1, 'too early to ask');
    t.equal(nodes.payers.heard.length, 1, 'of the first time');
    await nodes.pass(1);
    t.equal(nodes.pending, 0);
    t.match(nodes.events.at(-1), { event: 'effect_orphan_undone', kind: 'workspace_extend' });
    t.equal(chargesOf(nodes.rig), 0);
  },
);

t.test(
  'a reserve of a workspace elsewhere is known to be one, and goes back to its wallet once',
  async (t) => {
    const nodes = await opened(t);
    const { world, account, rig } = nodes;
    const payer = account.address.toLowerCase() as Address;
    const outcome = await nodes.extension.buy({
      id: nodes.id,
      payer,
      ttlMinutes: 4,
      reserveMoney: rig.prepaid.money,
    });
    t.ok(nodes.workspaces.heard.includes('extension-reserve'), 'a server without reserves would refuse it');
    const { ref } = (outcome as Extract<WorkOutcome, { effect: object }>).effect;
    await nodes.extension.commit(ref as EffectRef<'workspace_extend'>);
    await world.workspaces.endReserve(nodes.id as WorkspaceId);
    const events: object[] = [];
    const returns = new ReserveReturns({
      workspaces: world.workspaces,
      gate: { takeBack: () => Promise.reject(new Error('no wallet is here')) },
      store: {},
      leadsHere: () => false,
      returnTo: (owed) => nodes.workspaces.across.returnTo(owed),
      log: (event) => events.push(event),
    });
    const had = rig.prepaid.refundable(payer);
    for (const fate of ['away', 'lost'] as const) {
      nodes.payers.fates.set('prepaid-return', fate);
      await returns.deliver();
      t.equal(world.workspaces.returns(10).length, 1, `${fate}: it stays owed`);
      t.match(events.at(-1), { event: 'reserve_not_returned' });
    }
    nodes.payers.fates.clear();
    await returns.deliver();
    t.equal(world.workspaces.returns(10).length, 0);
    t.equal(rig.prepaid.refundable(payer) - had, 2000n, 'told twice, and had once');
  },
);
