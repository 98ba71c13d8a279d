import { type Static, Type } from '@sinclair/typebox';
import type { PrepaidStepId } from '../id.ts';
import { Charged, Id, Money, type Shape, Warnings } from './fields.ts';

/** Smallest amount per transfer: each step stays in the ledger. */
export const PREPAY_USD_MIN = 0.1;
const PREPAY_USD_LARGEST = 1_000_000;

const Usd = (description: string) =>
  Type.Number({ minimum: PREPAY_USD_MIN, maximum: PREPAY_USD_LARGEST, description });

export const PrepaySchema = Type.Object(
  { usd: Usd('US dollars to pay in advance, at most six decimals.') },
  { $id: 'Prepay' },
);

export type Prepay = Static<typeof PrepaySchema>;

export const PrepaidRefundRequestSchema = Type.Object(
  { usd: Usd('US dollars of your prepaid money to have back, at most six decimals.') },
  { $id: 'PrepaidRefundRequest' },
);

export const PrepaidSchema = Type.Object(
  {
    added_usd: Money('Added by this payment.'),
    prepaid_usd: Money('What you can spend now.'),
    charged: Charged,
    warnings: Warnings,
  },
  { $id: 'Prepaid' },
);

export type PrepaidAnswer = Shape<typeof PrepaidSchema>;

export const PrepaidBalanceSchema = Type.Object(
  {
    wallet: Type.String({ description: 'The wallet that signed.' }),
    prepaid_usd: Money('What you can spend now.'),
    refundable_usd: Money(
      'What you can have back: also what was not used for so long that it cannot be spent.',
    ),
    charged: Charged,
  },
  { $id: 'PrepaidBalance' },
);

export type PrepaidBalanceAnswer = Shape<typeof PrepaidBalanceSchema>;

export const PrepaidRefundSchema = Type.Object(
  {
    id: Id<PrepaidStepId>(),
    refund_usd: Money('Owed to you from now on: the operator sends it to the wallet that signed.'),
    prepaid_usd: Money('What you can still spend.'),
    charged: Charged,
    warnings: Warnings,
  },
  { $id: 'PrepaidRefund' },
);

export const ChannelRefundSchema = Type.Object(
  {
    refunded_usd: Money('Paid out of the escrow to the wallet that the channel belongs to.'),
    transaction: Type.String({ description: 'Hash of the transaction.' }),
    charged: Charged,
  },
  { $id: 'ChannelRefund' },
);

export type PrepaidRefundAnswer = Shape<typeof PrepaidRefundSchema>;
