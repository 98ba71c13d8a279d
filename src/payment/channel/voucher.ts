import type { Address } from '@farthing/protocol/address';
import type { Hex } from '../payment.ts';

/** x402's scheme of channels: one deposit into an escrow contract, then payments by vouchers of rising totals. */
export const BATCH_SETTLEMENT = 'batch-settlement';
/** The contract that takes deposits by EIP-3009 for the escrow: at one address on every chain (`@x402/evm`). */
export const DEPOSIT_COLLECTOR: Address = '0x4020806089470a89826cb9fb1f4059150b550004';

/** What a channel is: its id is the hash of this. Addresses in lower case. */
export interface ChannelConfig {
  readonly payer: Address;
  /** Signs vouchers. */
  readonly payerAuthorizer: Address;
  readonly receiver: Address;
  /** May claim what vouchers allow, and refund the rest. */
  readonly receiverAuthorizer: Address;
  readonly token: Address;
  /** Seconds between a payer's announcement and its withdrawal. */
  readonly withdrawDelay: number;
  readonly salt: Hex;
}

/** Money for the escrow: an EIP-3009 `ReceiveWithAuthorization` to the collector. */
export interface SentDeposit {
  readonly amount: bigint;
  /** With the channel's id, it makes the nonce. */
  readonly salt: Hex;
  readonly signature: Hex;
}

/** A voucher as a client sent it; nothing about it is checked yet. */
export interface SentVoucher {
  readonly kind: 'deposit' | 'voucher' | 'refund';
  readonly config: ChannelConfig;
  readonly id: Hex;
  /** All that the receiver may claim from the channel, from its beginning. */
  readonly total: bigint;
  /** Of `deposit` alone. */
  readonly deposit?: SentDeposit;
  /** Of `refund`: how much; absent for all that is left. */
  readonly refund?: bigint;
}

/** What a server offers for channels. */
export interface ChannelTerms {
  readonly receiverAuthorizer: Address;
  readonly withdrawDelay: number;
}

const CONFIG_TYPE =
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)';
const VOUCHER_TYPE = 'Voucher(bytes32 channelId,uint128 maxClaimableAmount)';
const RECEIVE_TYPE =
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';

/** Native hashing and recovery of signers. */
export interface Keccak {
  keccak256(bytes: Uint8Array): Uint8Array;
  /** 20 bytes; null where none signed it. */
  signerOf(digest: Uint8Array, signature: Uint8Array): Uint8Array | null;
}

/** @param domain separator of the escrow's EIP-712 domain */
export function channelIdOf(
  { withdrawDelay, ...config }: ChannelConfig,
  domain: Uint8Array,
  native: Keccak,
): Hex {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, salt } = config;
  const addresses = [payer, payerAuthorizer, receiver, receiverAuthorizer, token];
  return toHex(digestOf(native, domain, CONFIG_TYPE, [...addresses, withdrawDelay, salt]));
}

/** Whether the channel's payer allows the total. @param domain as above */
export function isVoucherSigned(
  { config, id, total }: SentVoucher,
  signature: Hex,
  domain: Uint8Array,
  native: Keccak,
): boolean {
  const digest = digestOf(native, domain, VOUCHER_TYPE, [id, total]);
  return isSigner(native, digest, signature, config.payerAuthorizer);
}

/** Nonce of the authorization that makes a deposit: the collector takes no other for this channel. */
export function depositNonce(id: Hex, { salt }: SentDeposit, native: Keccak): Hex {
  return toHex(native.keccak256(wordsOf([id, salt])));
}

/** Whether the channel's payer gives the deposit. @param domain separator of the coin's */
export function isDepositSigned(
  { config: { payer }, id, deposit }: SentVoucher & { readonly deposit: SentDeposit },
  { validAfter, validBefore }: { readonly validAfter: bigint; readonly validBefore: bigint },
  domain: Uint8Array,
  native: Keccak,
): boolean {
  const { amount, signature } = deposit;
  const nonce = depositNonce(id, deposit, native);
  const words = [payer, DEPOSIT_COLLECTOR, amount, validAfter, validBefore, nonce];
  return isSigner(native, digestOf(native, domain, RECEIVE_TYPE, words), signature, payer);
}

type Word = Hex | bigint | number;

function isSigner(native: Keccak, digest: Uint8Array, signature: Hex, signer: Address): boolean {
  const found = native.signerOf(digest, Buffer.from(signature.slice(2), 'hex'));
  return found !== null && toHex(found) === signer;
}

function digestOf(native: Keccak, domain: Uint8Array, type: string, words: readonly Word[]): Uint8Array {
  const message = native.keccak256(Buffer.concat([native.keccak256(Buffer.from(type)), wordsOf(words)]));
  return native.keccak256(Buffer.concat([Buffer.from('1901', 'hex'), domain, message]));
}

function wordsOf(words: readonly Word[]): Buffer {
  const digits = (word: Word) => (typeof word === 'string' ? word.slice(2) : word.toString(16));
  return Buffer.from(words.map((word) => digits(word).padStart(64, '0')).join(''), 'hex');
}

function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
