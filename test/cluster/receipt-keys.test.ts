import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import t, { type Test } from 'tap';
import { readClusterKeys } from '../../src/cluster/stores/seal.ts';
import { receiptKeysRow } from '../../src/cluster/stores/sealed-row.ts';
import { openReceiptSigner, verifyReceipt } from '../../src/server/workspace/disposal/receipt.ts';
import { MemoryEngine, MemoryKv } from './memory-kv.ts';

/** Servers of one cluster, each with a folder; their looks are as old as the test wants. */
async function clusterOf(t: Test) {
  const folder = t.testdir({});
  const clusterKeys = await readClusterKeys(randomBytes(32).toString('hex'));
  const engine = new MemoryEngine();
  const time = { now: 0 };
  const logged: object[] = [];
  const folderOf = (name: string) => join(folder, name);
  const kvs = new Map<string, MemoryKv>();
  const open = (name: string) => {
    const kv = new MemoryKv(engine);
    kvs.set(name, kv);
    const shared = receiptKeysRow(kv, 'c', clusterKeys);
    const log = (event: object) => void logged.push(event);
    return openReceiptSigner(folderOf(name), { shared, log, now: () => time.now });
  };
  return { open, folderOf, kvs, time, logged };
}

type Signer = Awaited<ReturnType<typeof openReceiptSigner>>;

const kidsOf = (signer: Signer) => signer.jwks().keys.map(({ kid }) => kid);
const signedBy = async (signer: Signer) => decodeProtectedHeader(await signer.sign({ n: 1 })).kid;

t.test('a second server publishes the keys of the first and signs with the same one', async (t) => {
  const { open } = await clusterOf(t);
  const first = await open('a');
  const second = await open('b');
  t.same(second.jwks(), first.jwks());
  t.equal(first.jwks().keys.length, 1);
  t.equal((await verifyReceipt(await second.sign({ n: 1 }), first.jwks())).valid, true);
});

t.test('servers that start at the same moment on a new cluster know the keys of each other', async (t) => {
  const { open, time } = await clusterOf(t);
  const all = await Promise.all(['a', 'b', 'c'].map(open));
  time.now += 1000;
  for (const signer of all) await signer.refresh();
  const receipts = await Promise.all(all.map((signer) => signer.sign({ n: 1 })));
  for (const signer of all)
    for (const receipt of receipts) t.equal((await verifyReceipt(receipt, signer.jwks())).valid, true);
});

t.test('a rotation on one server is followed by the others, which drop the old key', async (t) => {
  const { open, folderOf, time } = await clusterOf(t);
  const [first, second] = [await open('a'), await open('b')];
  const before = kidsOf(first);
  const file = join(folderOf('b'), 'receipt-keys.json');
  const { d } = JSON.parse(readFileSync(file, 'utf8')).keys[0].privateKey;
  const kid = await first.rotate();
  t.equal(await signedBy(second), before[0], 'it has just looked');
  time.now += 1000;
  t.equal(await signedBy(second), kid);
  t.same(kidsOf(second), [...before, kid]);
  t.notOk(readFileSync(file, 'utf8').includes(d));
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('without etcd a server signs with what it has, says so, and rotates nothing', async (t) => {
  const { open, kvs, time, logged } = await clusterOf(t);
  const signer = await open('a');
  kvs.get('a')!.fate = () => 'never done';
  for (let looks = 0; looks < 3; looks += 1) {
    time.now += 1000;
    t.equal(await signedBy(signer), kidsOf(signer)[0]);
  }
  t.match(logged, [{ event: 'receipt_keys_not_read' }]);
  t.equal(logged.length, 1);
  await t.rejects(signer.rotate());
  kvs.get('a')!.fate = () => 'answered';
  const kid = await signer.rotate();
  t.equal(await signedBy(signer), kid);
});
