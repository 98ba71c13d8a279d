import t from 'tap';
import type { RequestPayment } from '../../../../src/payment/wire/request-payment.ts';
import { answeredHere } from '../../../../src/server/http/access/forward.ts';
import { RequestSource } from '../../../../src/server/http/access/request-source.ts';
import type { Services } from '../../../../src/server/http/access/services.ts';

const PAYER = '0x00000000000000000000000000000000000000aa';

/** One workspace, whose token is `good`, and one wallet that has paid before. */
const services = {
  workspaces: {
    tokenOpens: (id: string, token: string) => id === 'ws_1' && token === 'good',
  },
  house: { of: (token: string) => (token === 'fhk_good' ? { name: 'keeper' } : undefined) },
  gate: {
    owners: { of: (tenant: string) => (tenant === 'ws_1' ? 'its payer' : tenant) },
    knownPayer: ({ xPayment }: { xPayment?: string }) => (xPayment === 'of a payer' ? PAYER : undefined),
  },
} as unknown as Services;
const newSource = () => new RequestSource(services, answeredHere(services));

function sender(path: string, headers: Record<string, string> = {}, query = '', source = newSource()) {
  const head = { method: 'POST', path, query, headers: new Map(Object.entries(headers)) };
  const xPayment = headers['x-payment'];
  const isPresent = (xPayment ?? headers['payment-signature']) !== undefined;
  const payment = { isPresent, xPayment } as unknown as RequestPayment;
  return source.of({ head, payment, header: (name: string) => headers[name] });
}

t.test('the house is one sender, and made-up keys are like made-up tokens', async (t) => {
  const key = { authorization: 'Bearer fhk_good' };
  t.equal(sender('/agent/v1/workspaces/ws_1/search', key), 'house');
  t.equal(sender('/house/v1/workspaces', key), 'house');
  for (const made of ['fhk_bad', 'bad'])
    t.equal(sender('/agent/v1/workspaces/ws_1/search', { authorization: `Bearer ${made}` }), '');
});

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
