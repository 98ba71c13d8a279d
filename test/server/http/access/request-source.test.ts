import t from 'tap';
import { SlotForward } from '../../../../src/cluster/forward/slot-forward.ts';
import type { ServicesBySlot } from '../../../../src/cluster/forward/slot-places.ts';
import { HttpPeerCalls } from '../../../../src/cluster/peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../../../src/cluster/peers/peer-signature.ts';
import type { RequestPayment } from '../../../../src/payment/wire/request-payment.ts';
import { answeredHere } from '../../../../src/server/http/access/forward.ts';
import { RequestSource } from '../../../../src/server/http/access/request-source.ts';
import type { Services } from '../../../../src/server/http/access/services.ts';

let lookedUp = 0;
const PAYER = '0x00000000000000000000000000000000000000aa';

/** One workspace, whose token is `good`, and one wallet that has paid before. */
const services = {
  workspaces: {
    tokenOpens: (id: string, token: string) => {
      lookedUp += 1;
      return id === 'ws_1' && token === 'good';
    },
  },
  gate: {
    owners: { of: (tenant: string) => (tenant === 'ws_1' ? 'its payer' : tenant) },
    knownPayer: ({ xPayment }: { xPayment?: string }) => (xPayment === 'of a payer' ? PAYER : undefined),
  },
} as unknown as Services;
const newSource = () => new RequestSource(services.gate, answeredHere(services));

function sender(path: string, headers: Record<string, string> = {}, query = '', source = newSource()) {
  const head = { method: 'POST', path, query, headers: new Map(Object.entries(headers)) };
  const xPayment = headers['x-payment'];
  const isPresent = (xPayment ?? headers['payment-signature']) !== undefined;
  const payment = { isPresent, xPayment } as unknown as RequestPayment;
  return source.of({ head, payment, header: (name: string) => headers[name] });
}

t.test('a workspace is a sender where its token opens it, and a wallet that has paid', async (t) => {
  const own = { authorization: 'Bearer good' };
  t.equal(sender('/agent/v1/workspaces/ws_1/search', own), 'its payer');
  t.equal(sender('/mcp', own, 'workspace=ws_1'), 'its payer');
  t.equal(sender('/agent/v1/search', { 'x-payment': 'of a payer' }), `payer_${PAYER}`);
});

t.test('whoever makes up tokens and payments is one sender with all strangers', async (t) => {
  const strangers = [
    sender('/agent/v1/search', { 'x-payment': 'made up' }),
    sender('/agent/v1/search', { 'payment-signature': 'made up' }),
    sender('/agent/v1/search', { authorization: 'Bearer good' }),
    sender('/agent/v1/workspaces/ws_1/search', { authorization: 'Bearer bad' }),
    sender('/agent/v1/workspaces/ws_2/search', { authorization: 'Bearer good' }),
    sender('/agent/v1/workspaces/ws_1/search', { authorization: 'Bearer bad', 'x-payment': 'of a payer' }),
    sender('/mcp', { authorization: 'Bearer bad' }, 'workspace=ws_1'),
  ];
  t.same(new Set(strangers), new Set(['']));
});

t.test('whoever brings nothing waits behind no made-up payment', async (t) => {
  t.equal(sender('/healthz'), sender('/agent/v1/search'));
  t.not(sender('/healthz'), sender('/agent/v1/search', { 'x-payment': 'made up' }));
});

t.test('a token that opened its workspace is looked up once, another one each time', async (t) => {
  const source = newSource();
  const ask = (token: string) =>
    sender('/agent/v1/workspaces/ws_1/search', { authorization: `Bearer ${token}` }, '', source);
  const before = lookedUp;
  for (let time = 0; time < 3; time++) ask('good');
  t.equal(lookedUp - before, 1);
  for (let time = 0; time < 3; time++) t.equal(ask('bad'), '');
  t.equal(lookedUp - before, 4);
});

t.test('where other servers have slots, they are source, and the tokens that they accepted', async (t) => {
  const signatures = new PeerSignatures(peerKeysOf('a'.repeat(64)), 'a');
  const elsewhere: ServicesBySlot = {
    front: services,
    isOne: false,
    of: () => ({ peer: { id: 'b', url: 'http://127.0.0.1:1' }, moved: new Promise(() => undefined) }),
  };
  const calls = new HttpPeerCalls(signatures);
  t.teardown(() => calls.close());
  const forward = new SlotForward(elsewhere, { calls, signatures });
  const { known } = forward.forwarding!;
  const source = new RequestSource(services.gate, forward);
  const search = (token: string) =>
    sender('/agent/v1/workspaces/ws_1/search', { authorization: `Bearer ${token}` }, '', source);
  t.equal(search('good'), '', 'nobody accepted it yet');
  known.remember('ws_1', 'good');
  t.equal(search('good'), 'its payer');
  t.equal(search('bad'), '');
  known.forget('ws_1', 'good');
  t.equal(search('good'), '');
  const path = '/peer/v1/hear';
  const signed = signatures.sign('a', { method: 'POST', path, about: 'body 00' });
  const call = (header: string) =>
    sender(path, { 'farthing-peer': header, 'farthing-digest': '00' }, '', source);
  t.equal(call(signed), 'peers');
  t.equal(call('v1 a 1 made-up'), sender('/healthz'));
});
