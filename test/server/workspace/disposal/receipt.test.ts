import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openReceiptSigner, verifyReceipt } from '../../../../src/server/workspace/disposal/receipt.ts';

t.test('a changed receipt, one of another key, and any other text are invalid', async (t) => {
  const signer = await openReceiptSigner(join(t.testdir(), 'a'));
  const other = await openReceiptSigner(join(t.testdir(), 'b'));
  const receipt = await signer.sign({ items: 3 });
  const [header, , signature] = receipt.split('.');
  const forged = [header, Buffer.from('{"items":4}').toString('base64url'), signature].join('.');
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;
  for (const wrong of [forged, unsigned, '', 'a.b.c', receipt.slice(0, -4), await other.sign({ items: 3 })]) {
    t.equal((await verifyReceipt(wrong, signer.jwks())).valid, false, wrong.slice(0, 20));
  }
  t.equal((await verifyReceipt(receipt, { keys: [] })).valid, false);
});

t.test('the published keys contain nothing private, and only the owner can read the key file', async (t) => {
  const folder = t.testdir();
  const signer = await openReceiptSigner(folder);
  for (const key of signer.jwks().keys) {
    t.strictSame(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  }
  const path = join(folder, 'receipt-keys.json');
  t.equal((await stat(path)).mode & 0o777, 0o600);
});
