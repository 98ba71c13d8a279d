import { hash } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import { BATCH_SETTLEMENT, type SentVoucher } from '../channel/voucher.ts';
import { PaymentRefused } from '../fault.ts';
import type { Hex, SentPayment } from '../payment.ts';
import type { PaymentCredentials } from '../purchase.ts';
import { ownMember, parseStrictObject } from './strict-json.ts';

/** Characters of a payment header; HTTP refuses headers over 16 kB anyway. */
const HEADER_LENGTH_MAX = 16 * 1024;
const SIGNATURE_BYTES_MAX = 6 * 1024;
const UINT256_MAX = (1n << 256n) - 1n;
/** Of amounts in channels: more than there is of any coin. */
const CHANNEL_AMOUNT_MAX = (1n << 63n) - 1n;

export interface ParsedPayment {
  readonly payment: SentPayment;
  /** `payment-identifier` of the payment's extensions, not yet checked; undefined when the client sent none. */
  readonly identifier: unknown;
}

/**
 * Reads the payment of a request; `PAYMENT-SIGNATURE` wins over `X-PAYMENT`, and either may carry either version.
 * @returns undefined without a payment. @throws PaymentRefused for one that cannot be read.
 */
export function parsePaymentHeader(credentials: PaymentCredentials): ParsedPayment | undefined {
  const header = credentials.paymentSignature ?? credentials.xPayment;
  if (header === undefined || header === '') return undefined;
  const text = decodeBase64(header);
  const object = text === undefined ? undefined : parseStrictObject(text);
  if (!object) throw new PaymentRefused('payment_malformed');
  const version = ownMember(object, 'x402Version');
  if (version !== 1 && version !== 2) throw new PaymentRefused('unsupported_version');
  return version === 1 ? readV1(object) : readV2(object);
}

/** A member `from`, or a channel's `payer`, that is an address, as clients write it: without escapes. */
const PAYER = /"(?:from|payer)"\s*:\s*"(0x[0-9a-fA-F]{40})"/g;

/**
 * True where the payment may be of a wallet that is sought. It is searched, not read, which costs a twentieth; nothing is known from it but
 * that a payment without such a name is of somebody else.
 */
export function namesPayer(
  { paymentSignature, xPayment }: PaymentCredentials,
  isSought: (payer: Address) => boolean,
): boolean {
  const header = paymentSignature ?? xPayment ?? '';
  if (header.length > HEADER_LENGTH_MAX) return false;
  const text = Buffer.from(header, 'base64').toString('latin1');
  return [...text.matchAll(PAYER)].some(([, payer]) => isSought(payer!.toLowerCase() as Address));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Standard base64 or base64url, with or without padding. */
function decodeBase64(header: string): string | undefined {
  const text = header.trim();
  if (text.length > HEADER_LENGTH_MAX || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  try {
    return UTF8.decode(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
}

function readV1(object: object): ParsedPayment {
  const payment: SentPayment = {
    version: 1,
    scheme: text(ownMember(object, 'scheme')),
    networkName: text(ownMember(object, 'network')),
    ...readAuthorization(ownMember(object, 'payload')),
  };
  return { payment, identifier: readIdentifier(object) };
}

function readV2(object: object): ParsedPayment {
  const accepted = ownMember(object, 'accepted');
  const optional = (name: string) => {
    const value = ownMember(accepted, name);
    return value === undefined ? undefined : text(value);
  };
  const scheme = text(ownMember(accepted, 'scheme'));
  const payload = ownMember(object, 'payload');
  const payment: SentPayment = {
    version: 2,
    scheme,
    networkName: text(ownMember(accepted, 'network')),
    accepted: { asset: optional('asset'), payTo: optional('payTo'), amount: optional('amount') },
    ...(scheme === BATCH_SETTLEMENT
      ? readVoucher(payload, ownMember(accepted, 'amount'))
      : readAuthorization(payload)),
  };
  return { payment, identifier: readIdentifier(object) };
}

/** A voucher pays the amount that its sender accepted. */
function readVoucher(payload: unknown, accepted: unknown) {
  const kind = text(ownMember(payload, 'type'));
  if (kind !== 'deposit' && kind !== 'voucher' && kind !== 'refund')
    throw new PaymentRefused('payment_malformed');
  const told = ownMember(payload, 'channelConfig');
  const signed = ownMember(payload, 'voucher');
  const amount = (value: unknown) => uint256(value, CHANNEL_AMOUNT_MAX);
  const config = {
    payer: address(ownMember(told, 'payer')),
    payerAuthorizer: address(ownMember(told, 'payerAuthorizer')),
    receiver: address(ownMember(told, 'receiver')),
    receiverAuthorizer: address(ownMember(told, 'receiverAuthorizer')),
    token: address(ownMember(told, 'token')),
    withdrawDelay: Number(uint256(ownMember(told, 'withdrawDelay'), 1n << 40n)),
    salt: hex(ownMember(told, 'salt'), 32, 32),
  };
  const id = hex(ownMember(signed, 'channelId'), 32, 32);
  const total = amount(ownMember(signed, 'maxClaimableAmount'));
  const deposit = kind === 'deposit' ? ownMember(payload, 'deposit') : undefined;
  const authorization = ownMember(ownMember(deposit, 'authorization'), 'erc3009Authorization');
  const refund = kind === 'refund' ? ownMember(payload, 'amount') : undefined;
  const voucher: SentVoucher = {
    kind,
    config,
    id,
    total,
    ...(deposit !== undefined && {
      deposit: {
        amount: amount(ownMember(deposit, 'amount')),
        salt: hex(ownMember(authorization, 'salt'), 32, 32),
        signature: hex(ownMember(authorization, 'signature'), 65, 65),
      },
    }),
    ...(refund !== undefined && { refund: amount(refund) }),
  };
  if (kind === 'deposit' && !voucher.deposit) throw new PaymentRefused('payment_malformed');
  return {
    payer: config.payer,
    payTo: config.receiver,
    value: kind === 'refund' ? 0n : amount(accepted),
    validAfter: deposit === undefined ? 0n : uint256(ownMember(authorization, 'validAfter')),
    validBefore: deposit === undefined ? 0n : uint256(ownMember(authorization, 'validBefore')),
    nonce: `0x${hash('sha256', `${id}/${total}`)}` as const,
    signature: hex(ownMember(signed, 'signature'), 65, 65),
    voucher,
  };
}

function readAuthorization(payload: unknown) {
  const authorization = ownMember(payload, 'authorization');
  return {
    payer: address(ownMember(authorization, 'from')),
    payTo: address(ownMember(authorization, 'to')),
    value: uint256(ownMember(authorization, 'value')),
    validAfter: uint256(ownMember(authorization, 'validAfter')),
    validBefore: uint256(ownMember(authorization, 'validBefore')),
    nonce: hex(ownMember(authorization, 'nonce'), 32, 32),
    signature: hex(ownMember(payload, 'signature'), 0, SIGNATURE_BYTES_MAX),
  };
}

/** The client's id; undefined when it only echoes the server's declaration, which has none. */
function readIdentifier(object: object): unknown {
  const info = ownMember(ownMember(ownMember(object, 'extensions'), 'payment-identifier'), 'info');
  return ownMember(info, 'id') ?? undefined;
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 128) throw new PaymentRefused('payment_malformed');
  return value;
}

function hex(value: unknown, bytesMin: number, bytesMax: number): Hex {
  if (typeof value !== 'string' || value.length > 2 + 2 * bytesMax || value.length < 2 + 2 * bytesMin) {
    throw new PaymentRefused('payment_malformed');
  }
  if (value.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(value))
    throw new PaymentRefused('payment_malformed');
  return value.toLowerCase() as Hex;
}

function address(value: unknown): Address {
  return hex(value, 20, 20);
}

/** A decimal string (as the specification has it) or a whole JSON number that is exact. */
function uint256(value: unknown, max = UINT256_MAX): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw new PaymentRefused('payment_malformed');
  const number = BigInt(value);
  if (number > max) throw new PaymentRefused('payment_malformed');
  return number;
}
