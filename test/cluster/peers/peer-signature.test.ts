import t from 'tap';
import { PeerSignatures, peerKeysOf } from '../../../src/cluster/peers/peer-signature.ts';

const [FIRST, SECOND] = ['1'.repeat(64), '2'.repeat(64)] as const;
const SIGNED = { method: 'POST', path: '/peer/v1/hear?a=b', about: 'body 00' };
const MINUTE_MS = 60_000;

const of = (text: string, node: string, now?: () => number) =>
  new PeerSignatures(peerKeysOf(text), node, now);

t.test('a server knows what another one with its key signed, and who it was', async (t) => {
  t.equal(of(FIRST, 'b').signerOf(of(FIRST, 'a').sign('b', SIGNED), SIGNED), 'a');
  t.equal(of(FIRST, 'b').signerOf(of(FIRST, 'büro 1').sign('b', SIGNED), SIGNED), 'büro 1');
});

t.test('a signature holds for one request', async (t) => {
  const header = of(FIRST, 'a').sign('b', SIGNED);
  for (const other of [{ method: 'GET' }, { path: '/peer/v1/hear?a=c' }, { about: 'forwarded 00' }])
    t.equal(of(FIRST, 'b').signerOf(header, { ...SIGNED, ...other }), undefined);
  t.equal(of(FIRST, 'b').signerOf(header.replace('v1 a', 'v1 c'), SIGNED), undefined, 'of another node');
  t.equal(of(FIRST, 'c').signerOf(header, SIGNED), undefined, 'for another node');
});

t.test('who has another key is nobody', async (t) => {
  t.equal(of(FIRST, 'b').signerOf(of(SECOND, 'a').sign('b', SIGNED), SIGNED), undefined);
  for (const header of [
    undefined,
    '',
    'v1 a 1',
    'v1 a 1 ,',
    `v1 a ${Date.now()} ${'A'.repeat(43)}`,
    'v2 a 1 b',
  ])
    t.equal(of(FIRST, 'b').signerOf(header, SIGNED), undefined, String(header));
});

t.test('clocks may be five minutes apart, either way, and no more', async (t) => {
  const at = (ms: number) => of(FIRST, 'a', () => ms);
  const now = 10 * MINUTE_MS;
  for (const ms of [now - 5 * MINUTE_MS, now + 5 * MINUTE_MS])
    t.equal(at(now).signerOf(at(ms).sign('a', SIGNED), SIGNED), 'a');
  for (const ms of [now - 5 * MINUTE_MS - 1, now + 5 * MINUTE_MS + 1])
    t.equal(at(now).signerOf(at(ms).sign('a', SIGNED), SIGNED), undefined);
});

t.test(
  'servers know each other through a change of the cluster key, in whatever order they learn of it',
  async (t) => {
    const files = [FIRST, `${SECOND}\n${FIRST}\n`, SECOND];
    for (const [before, after] of [
      [files[0]!, files[1]!],
      [files[1]!, files[2]!],
    ]) {
      t.equal(of(before!, 'b').signerOf(of(after!, 'a').sign('b', SIGNED), SIGNED), 'a');
      t.equal(of(after!, 'b').signerOf(of(before!, 'a').sign('b', SIGNED), SIGNED), 'a');
    }
  },
);
