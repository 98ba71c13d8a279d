import { native } from '../native/index.ts';
import type { Asset } from './asset.ts';
import type { Payment } from './payment.ts';

/** `undecided`: longer than a plain wallet's signature, so only the chain can tell (ERC-1271, ERC-6492). */
export type SignatureVerdict = 'valid' | 'invalid' | 'undecided';

const PLAIN_SIGNATURE_HEX_LENGTH = 2 + 2 * 65;
const PACKED_BYTES = 168;

/** Checks signatures over one token's EIP-712 domain, natively and on the calling thread (about 50 µs each). */
export class SignatureCheck {
  readonly #domain: Uint8Array;
  readonly #judged = new WeakMap<Payment, SignatureVerdict>();

  constructor(asset: Asset) {
    this.#domain = native.tokenDomain(
      asset.name,
      asset.version,
      asset.chainId,
      Buffer.from(asset.address.slice(2), 'hex'),
    );
  }

  /** Accepts of 65-byte signatures exactly those that the token contract accepts from the payer. A payment is judged once. */
  judge(payment: Payment): SignatureVerdict {
    let verdict = this.#judged.get(payment);
    if (!verdict) {
      verdict = this.#recover(payment);
      this.#judged.set(payment, verdict);
    }
    return verdict;
  }

  #recover(payment: Payment): SignatureVerdict {
    if (payment.signature.length > PLAIN_SIGNATURE_HEX_LENGTH) return 'undecided';
    const signature = Buffer.from(payment.signature.slice(2), 'hex');
    return native.checkTransferSignature(this.#domain, pack(payment), signature) === 0 ? 'valid' : 'invalid';
  }
}

/** from 20 ‖ to 20 ‖ value 32 ‖ validAfter 32 ‖ validBefore 32 ‖ nonce 32. */
function pack({ payer, payTo, value, validAfter, validBefore, nonce }: Payment): Buffer {
  const word = (number: bigint) => number.toString(16).padStart(64, '0');
  const packed = Buffer.allocUnsafe(PACKED_BYTES);
  packed.write(
    payer.slice(2) + payTo.slice(2) + word(value) + word(validAfter) + word(validBefore) + nonce.slice(2),
    'hex',
  );
  return packed;
}
