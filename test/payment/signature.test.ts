import { randomBytes } from 'node:crypto';
import t from 'tap';
import { type Hex, recoverTypedDataAddress } from 'viem';
import { native } from '../../src/native/index.ts';
import { BASE_USDC } from '../../src/payment/asset.ts';
import { SignatureCheck } from '../../src/payment/signature.ts';
import { type SignedTransfer, tokenDomain, transferOf, transferTypedData } from '../rig/sign-transfer.ts';
import { paymentOf, sign, v1Header, wallet } from './rig/payments.ts';

const check = new SignatureCheck(native);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function ours(payload: SignedTransfer): string {
  return check.verdictOn(paymentOf({ xPayment: v1Header(payload) }));
}

async function viems(payload: SignedTransfer): Promise<'valid' | 'invalid'> {
  const transfer = transferOf(payload.authorization);
  try {
    const address = await recoverTypedDataAddress({
      ...transferTypedData(tokenDomain(BASE_USDC), transfer),
      signature: payload.signature,
    });
    return address.toLowerCase() === transfer.from.toLowerCase() ? 'valid' : 'invalid';
  } catch {
    return 'invalid';
  }
}

const bytesOf = (signature: string) => Buffer.from(signature.slice(2), 'hex');
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;

/** Changes one byte at random; the seed is printed with a failure because the payload is. */
function spoil(payload: SignedTransfer): SignedTransfer {
  const bytes = bytesOf(payload.signature);
  bytes[randomBytes(1)[0]! % 65]! ^= 1 << (randomBytes(1)[0]! % 8);
  return { ...payload, signature: hexOf(bytes) };
}

t.test('signatures accepted here are accepted by viem, and what viem refuses is refused here', async (t) => {
  let accepted = 0;
  for (let round = 0; round < 60; round++) {
    const payload = await sign(wallet(), {
      value: BigInt(`0x${randomBytes(1 + (round % 32)).toString('hex')}`),
    });
    for (const candidate of [payload, spoil(payload), spoil(spoil(payload))]) {
      const [mine, theirs] = [ours(candidate), await viems(candidate)];
      if (mine === 'valid') accepted += 1;
      if (mine !== theirs) {
        // The only difference allowed: viem is laxer, on a byte that the token contract would refuse.
        const v = bytesOf(candidate.signature)[64]!;
        t.equal(theirs, 'valid', JSON.stringify(candidate));
        t.ok(v !== 27 && v !== 28, JSON.stringify(candidate));
      }
    }
  }
  t.ok(accepted >= 60);
});

t.test('where viem is laxer than the token contract, the contract is followed', async (t) => {
  const payload = await sign(wallet());
  const bytes = bytesOf(payload.signature);
  const s = BigInt(hexOf(bytes.subarray(32, 64)));
  const twin = Buffer.from(bytes);
  twin.set(Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex'), 32);
  twin[64] = bytes[64] === 27 ? 28 : 27;
  const zeroBased = Buffer.from(bytes);
  zeroBased[64] = bytes[64]! - 27;
  const table = [
    ['as signed', payload.signature, 'valid', 'valid'],
    ['high s, the malleable twin', hexOf(twin), 'invalid', 'valid'],
    ['v 0 or 1', hexOf(zeroBased), 'invalid', 'valid'],
    ['zero signature', hexOf(new Uint8Array(65)), 'invalid', 'invalid'],
    ['empty', '0x', 'invalid', 'invalid'],
  ] as const;
  for (const [name, signature, mine, theirs] of table) {
    t.equal(ours({ ...payload, signature: signature as Hex }), mine, name);
    t.equal(await viems({ ...payload, signature: signature as Hex }), theirs, `viem: ${name}`);
  }
});

t.test('longer signatures are left to the chain', async (t) => {
  const payload = await sign(wallet());
  t.equal(ours({ ...payload, signature: `${payload.signature}00` }), 'needsFacilitator');
});
