import t from 'tap';
import { Farthing } from '../../../../src/client/index.ts';
import type { Address } from '../../../../src/protocol/address.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { sign, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';
import { startPaidServer } from './paid-server.ts';

t.test(
  'money in advance that a facilitator says it moved, and did not, is neither spent nor had back',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server, booksAtEnd } = await startPaidServer(t);
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, 5_000_000n);
    const prepay = () => agent.post('/agent/v1/prepaid', { usd: 0.5 });
    await facilitator.behave('never');
    t.match(await prepay(), { status: 503, body: { code: 'settlement_pending' } }, 'a node is asked first');
    t.equal(await chain.balance(merchant), 0n);
    await facilitator.behave('none');
    let added = await prepay();
    while (added.body.code === 'settlement_pending') added = await prepay();
    t.equal(added.status, 200);
    const { totals } = await booksAtEnd();
    t.equal(
      await chain.balance(merchant),
      BigInt(totals.settled.amount),
      'the books hold what the chain shows',
    );
  },
);

t.test(
  'a folder of play money is opened for no other, and what play money bought ends by one command',
  async (t) => {
    const DATA_DIR = `${t.testdir({})}/data`;
    const environment = { FARTHING_DATA_DIR: DATA_DIR };
    const real = { FACILITATOR: 'http://127.0.0.1:9', PAY_TO: `0x${'1'.repeat(40)}` };
    const changed = { ...environment, FARTHING_FACILITATOR: real.FACILITATOR, FARTHING_PAY_TO: real.PAY_TO };
    const admin = (variables: Readonly<Record<string, string>>, ...words: string[]) =>
      runCommand(variables, words);
    const play = await startTestServer(t, { DATA_DIR });
    const client = new Farthing({ baseUrl: play.url, account: wallet(), prepaid: true, maxPriceUsd: '10' });
    await client.prepay('5');
    const { id, token } = await client.workspaces.create({ ttlMinutes: 60 });
    await client.ingest(new File(['A text about gulls.'], 'gulls.txt'));
    t.match(await admin(changed, 'money', 'change'), { status: 1, explained: /stop it first/ });
    await play.stop();

    await t.rejects(startTestServer(t, { DATA_DIR, ...real }), {
      message:
        /its books are in play money, and these settings are in eip155:8453 .*"npx farthing admin money change"/,
    });
    const doctor = await admin(changed, 'doctor', '--json');
    t.match(doctor.written, /"check": "money",\s+"state": "problem"/);
    const ended = await admin(changed, 'money', 'change');
    t.match(ended, {
      status: 0,
      written:
        /1 workspaces.*1 indexes of wallets.*0 credits.*4\.93 USD prepaid by 1 wallets, which have ended/s,
    });
    t.match(ended.written, /is in eip155:8453 paid to 0x1+ from now on/);
    t.match(await admin(changed, 'money', 'change'), { written: /Nothing ends/ }, 'once');

    const paidFor = await startTestServer(t, { DATA_DIR, ...real });
    const answer = await fetch(`${paidFor.url}/agent/v1/workspaces/${id}/usage`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    t.equal(answer.status, 401);
    t.match((await admin(environment, 'prepaid', 'list')).explained, /0 wallets have 0 USD prepaid/);
    await paidFor.stop();
    await t.rejects(startTestServer(t, { DATA_DIR }), { message: /these settings are in play money/ });
    t.match(
      await admin({ ...changed, FARTHING_PAY_TO: `0x${'2'.repeat(40)}` }, 'money', 'change'),
      { written: /Nothing ends/ },
      'another wallet on the same chain',
    );
  },
);

t.test(
  'what the chain has seen buys nothing again on a restored backup',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, merchant, server, environment } = await startPaidServer(t, {
      DATA_DIR: `${t.testdir({})}/data`,
    });
    const account = wallet();
    await chain.mint(account.address, 5_000_000n);
    const [backup, DATA_DIR] = [`${server.dataFolder}-backup`, `${server.dataFolder}-restored`];
    t.equal((await runCommand({ FARTHING_DATA_DIR: server.dataFolder }, ['backup', backup])).status, 0);
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 290);
    const signed = v2Header(await sign(account, { to: merchant as Address, value: 500_000n, validBefore }));
    const buy = async (url: string) => {
      const headers = { 'PAYMENT-SIGNATURE': signed, 'Content-Type': 'application/json' };
      const answer = await fetch(`${url}/agent/v1/prepaid`, { method: 'POST', headers, body: '{"usd":0.5}' });
      return { status: answer.status, body: await answer.json() };
    };
    let bought = await buy(server.url);
    while (bought.status === 503) bought = await buy(server.url);
    t.equal(bought.status, 200);
    await server.stop();
    t.equal((await runCommand({ FARTHING_DATA_DIR: DATA_DIR }, ['restore', backup])).status, 0);
    t.match((await runCommand({ FARTHING_DATA_DIR: DATA_DIR }, ['doctor'])).written, /restored backup/);
    const restored = await startTestServer(t, { ...environment, DATA_DIR });
    t.match(await buy(restored.url), { status: 402, body: { error: 'authorization_already_used' } });
    t.equal(await chain.balance(merchant), 500_000n);
  },
);
