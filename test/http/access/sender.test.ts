import t from 'tap';
import { senderOf } from '../../../src/http/access/sender.ts';
import type { Services, ServicesBySlot } from '../../../src/http/access/services.ts';

const PAYER = '0x00000000000000000000000000000000000000aa';

/** One workspace, whose token is `good`, and one wallet that has paid before. */
const services = {
  workspaces: { tokenOpens: (id: string, token: string) => id === 'ws_1' && token === 'good' },
  gate: {
    knownPayer: ({ xPayment }: { xPayment?: string }) => (xPayment === 'of a payer' ? PAYER : undefined),
  },
} as unknown as Services;
const slots: ServicesBySlot = { all: [services], of: () => services };

function sender(path: string, headers: Record<string, string> = {}, query = ''): string {
  const head = { method: 'POST', path, query, headers: new Map() };
  return senderOf(slots, { head, header: (name: string) => headers[name] });
}

t.test('a workspace is a sender where its token opens it, and a wallet that has paid', async (t) => {
  const own = { authorization: 'Bearer good' };
  t.equal(sender('/agent/v1/workspaces/ws_1/search', own), 'ws_1');
  t.equal(sender('/mcp', own, 'workspace=ws_1'), 'ws_1');
  t.equal(sender('/agent/v1/search', { 'x-payment': 'of a payer' }), PAYER);
});

t.test('whoever makes up tokens and payments is one sender with all strangers', async (t) => {
  const strangers = [
    sender('/healthz'),
    sender('/agent/v1/search', { 'x-payment': 'made up' }),
    sender('/agent/v1/search', { authorization: 'Bearer good' }),
    sender('/agent/v1/workspaces/ws_1/search', { authorization: 'Bearer bad' }),
    sender('/agent/v1/workspaces/ws_2/search', { authorization: 'Bearer good' }),
    sender('/agent/v1/workspaces/ws_1/search', { authorization: 'Bearer bad', 'x-payment': 'of a payer' }),
    sender('/mcp', { authorization: 'Bearer bad' }, 'workspace=ws_1'),
  ];
  t.same(new Set(strangers), new Set(['']));
});
