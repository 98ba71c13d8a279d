import { type Asset, assetOn } from './asset.ts';
import {
  type ChannelConfig,
  channelIdOf,
  depositNonce,
  isDepositSigned,
  isVoucherSigned,
  type Keccak,
  type SentVoucher,
} from './channel/voucher.ts';
import type { Hex, Payment } from './payment.ts';

/** `needsFacilitator`: no plain wallet's signature, so only the chain can tell (ERC-1271, ERC-6492). */
export type SignatureVerdict = 'valid' | 'invalid' | 'needsFacilitator';

const PLAIN_SIGNATURE_HEX_LENGTH = 2 + 2 * 65;
const PACKED_BYTES = 168;

/** A payment that a gate may accept, and what is known of its signature. */
export interface Genuine {
  readonly payment: Payment;
  readonly verdict: SignatureVerdict;
}

/** Native part of the signature check. */
export interface TransferSignatures extends Keccak {
  /** Reusable data of the coin's EIP-712 domain. @param address 20 bytes */
  tokenDomain(name: string, version: string, chainId: number, address: Uint8Array): Uint8Array;
  /** @param packed as `pack` writes it @returns 0 for the payer's */
  checkTransferSignature(domain: Uint8Array, packed: Uint8Array, signature: Uint8Array): number;
}

/** Checks signatures over the EIP-712 domains of the coins, natively and on the calling thread (about 50 µs each). */
export class SignatureCheck {
  readonly #domains = new Map<Asset, Uint8Array>();
  readonly #verdicts = new WeakMap<Payment, SignatureVerdict>();
  readonly #native: TransferSignatures;
  readonly #judgesAnyLength: boolean;

  /** @param judgesAnyLength a node can be asked whether the payer is a contract: signatures of a plain wallet's length may be one's, too */
  constructor(native: TransferSignatures, { judgesAnyLength = false } = {}) {
    this.#native = native;
    this.#judgesAnyLength = judgesAnyLength;
  }

  /** Accepts of 65-byte signatures exactly those that the token contract accepts from the payer. A payment is checked once. */
  verdictOn(payment: Payment): SignatureVerdict {
    let verdict = this.#verdicts.get(payment);
    if (!verdict) {
      verdict = this.#check(payment);
      this.#verdicts.set(payment, verdict);
    }
    return verdict;
  }

  /** @param asset the escrow */
  channelId(asset: Asset, config: ChannelConfig): Hex {
    return channelIdOf(config, this.#domainOf(asset), this.#native);
  }

  /** Nonce of the authorization that makes a voucher's deposit. */
  depositNonce({ id, deposit }: SentVoucher): Hex {
    return depositNonce(id, deposit!, this.#native);
  }

  #check(payment: Payment): SignatureVerdict {
    if (payment.voucher) return this.#isVoucherValid(payment, payment.voucher) ? 'valid' : 'invalid';
    if (isLong(payment)) return 'needsFacilitator';
    const signature = Buffer.from(payment.signature.slice(2), 'hex');
    const domain = this.#domainOf(payment.asset);
    if (this.#native.checkTransferSignature(domain, pack(payment), signature) === 0) return 'valid';
    return this.#judgesAnyLength ? 'needsFacilitator' : 'invalid';
  }

  /** No contract can sign a voucher here: `payerAuthorizer` is a plain wallet. */
  #isVoucherValid(payment: Payment, voucher: SentVoucher): boolean {
    const { asset, signature } = payment;
    if (!isVoucherSigned(voucher, signature, this.#domainOf(asset), this.#native)) return false;
    const { deposit } = voucher;
    const domain = () => this.#domainOf(assetOn(asset.network));
    return !deposit || isDepositSigned({ ...voucher, deposit }, payment, domain(), this.#native);
  }

  #domainOf(asset: Asset): Uint8Array {
    let domain = this.#domains.get(asset);
    if (!domain) {
      const { name, version, chainId, address } = asset;
      domain = this.#native.tokenDomain(name, version, chainId, Buffer.from(address.slice(2), 'hex'));
      this.#domains.set(asset, domain);
    }
    return domain;
  }
}

/** True for a signature that a contract has to judge, as its length or its check says. */
export function isOfContract(payment: Payment): boolean {
  return payment.mayBeOfContract === true || isLong(payment);
}

/** True for one that is longer than a plain wallet's. */
export function isLong({ signature }: Payment): boolean {
  return signature.length > PLAIN_SIGNATURE_HEX_LENGTH;
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
