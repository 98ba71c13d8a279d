import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readClusterKeys } from '../../src/cluster/seal.ts';
import { KeptKeyFile } from '../../src/content/kept-key-file.ts';
import { openStore } from '../../src/state/store.ts';
import { openReceiptSigner } from '../../src/workspace/disposal/receipt.ts';

t.test(
  'the keys that sign come back with their private parts, and a key that was added here is kept',
  async (t) => {
    const folder = t.testdir({});
    const store = openStore(join(folder, 'state'));
    t.teardown(() => store.close());
    const keys = join(folder, 'keys');
    const path = join(keys, 'receipt-keys.json');
    const clusterKeys = await readClusterKeys(randomBytes(32).toString('hex'));
    const file = new KeptKeyFile(store, clusterKeys, keys);
    await file.restore();
    const signer = await openReceiptSigner(keys);
    await file.keep();
    const first = readFileSync(path, 'utf8');
    rmSync(keys, { recursive: true });
    await file.restore();
    t.equal(readFileSync(path, 'utf8'), first);
    t.equal(statSync(path).mode & 0o777, 0o600);

    const kid = await signer.rotate();
    await file.restore();
    t.equal((await openReceiptSigner(keys)).jwks().keys.at(-1)?.kid, kid, 'added while no server ran');
    await file.keep();
    // An empty disk, on which another key was made: that of the books counts.
    rmSync(keys, { recursive: true });
    mkdirSync(keys);
    await openReceiptSigner(keys);
    await file.restore();
    t.equal((await openReceiptSigner(keys)).jwks().keys.at(-1)?.kid, kid);

    const stranger = await readClusterKeys(randomBytes(32).toString('hex'));
    await t.rejects(new KeptKeyFile(store, stranger, keys).restore(), { message: /is missing; add it/ });
  },
);
