import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import t from 'tap';
import { openReceiptSigner, verifyReceipt } from '../../../../src/server/workspace/disposal/receipt.ts';

t.test('a receipt is verified with the published keys alone', async (t) => {
  const signer = await openReceiptSigner(t.testdir());
  const receipt = await signer.sign({ workspace: 'ws_1', items: 3 });
  const { payload, protectedHeader } = await compactVerify(receipt, createLocalJWKSet(signer.jwks()));
  t.strictSame(JSON.parse(new TextDecoder().decode(payload)), { workspace: 'ws_1', items: 3 });
  t.equal(protectedHeader.alg, 'EdDSA');
  t.equal(protectedHeader.kid, signer.jwks().keys[0]!.kid);
  t.strictSame(await verifyReceipt(` ${receipt}\n`, signer.jwks()), {
    valid: true,
    kid: protectedHeader.kid,
    claims: { workspace: 'ws_1', items: 3 },
  });
});

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

t.test('keys survive restarts; a rotation keeps receipts valid, the old private key goes', async (t) => {
  const folder = t.testdir();
  const first = await openReceiptSigner(folder);
  const old = await first.sign({ n: 1 });
  const again = await openReceiptSigner(folder);
  t.strictSame(again.jwks(), first.jwks());

  const previousPrivate = (
    JSON.parse(await readFile(join(folder, 'receipt-keys.json'), 'utf8')) as {
      keys: { privateKey: { d: string } }[];
    }
  ).keys[0]!.privateKey.d;
  const kid = await again.rotate();
  const fresh = await again.sign({ n: 2 });
  t.equal(decodeProtectedHeader(fresh).kid, kid);
  t.equal(again.jwks().keys.length, 2);
  for (const signer of [again, await openReceiptSigner(folder)]) {
    t.equal((await verifyReceipt(old, signer.jwks())).valid, true);
    t.equal((await verifyReceipt(fresh, signer.jwks())).valid, true);
  }
  t.notOk((await readFile(join(folder, 'receipt-keys.json'), 'utf8')).includes(previousPrivate));
});
