/** Headers of requests and answers, for the description. */

type Json = { readonly [key: string]: unknown };

const text = { type: 'string' } as const;
const described = (description: string, schema: Json = text): Json => ({ description, schema });

/** Named headers of `components`. */
export const HEADERS = {
  'X-Request-Id': described(
    'Id of this request: yours, if you sent a usable one. Name it when you report a fault.',
  ),
  traceparent: described('W3C trace context, when the request carried one.'),
  'X-PAYMENT-RESPONSE': described('Base64 settlement receipt; absent when nothing was charged.'),
  'PAYMENT-RESPONSE': described(
    'The same receipt, for v2 clients; if money is real, signed (extension `offer-receipt`).',
  ),
  'PAYMENT-REQUIRED': described('What to pay, base64 of JSON, for v2 clients.'),
  'X-Prepaid-Left-USD': described('Prepaid money of the wallet that signed, beside a refusal of it.'),
  'X-Workspace-TTL-Seconds': described('Seconds of rented time left.'),
  'X-Workspace-TTL-Warning': described('In the last two minutes: that the workspace ends soon.'),
  'X-Workspace-Reserve-Minutes': described('Minutes of these that are in reserve and not used, if any.'),
  'X-Workspace-Spend-Remaining-USD': described('What the spend limit leaves, where there is one.'),
  'Preference-Applied': described('The wait that was honoured, of `Prefer: wait=SECONDS`.'),
  'Retry-After': described('Seconds after which to try again.'),
  'WWW-Authenticate': described('Always `Bearer`.'),
  'Content-Disposition': described('`attachment`, with the name of the file.'),
  'X-Content-Type-Options': described('Always `nosniff`.'),
  'Content-Security-Policy': described('Nothing in the file may run.'),
  ETag: described('Changes with the content, and with its encoding; for `If-None-Match`.'),
  'Accept-Ranges': described('Always `bytes`.'),
  'Content-Range': described('Which bytes are given, of how many.'),
  'Content-Encoding': described('`br` or `gzip`, for a request that takes it.'),
} as const satisfies Readonly<Record<string, Json>>;
export type HeaderName = keyof typeof HEADERS;

export const RECEIPT: readonly HeaderName[] = ['X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE'];
export const TIME_LEFT: readonly HeaderName[] = [
  'X-Workspace-TTL-Seconds',
  'X-Workspace-TTL-Warning',
  'X-Workspace-Reserve-Minutes',
  'X-Workspace-Spend-Remaining-USD',
];
export const FILE: readonly HeaderName[] = [
  'Content-Disposition',
  'X-Content-Type-Options',
  'Content-Security-Policy',
];
export const RANGED: readonly HeaderName[] = ['ETag', 'Accept-Ranges'];
export const KEPT: readonly HeaderName[] = ['ETag', 'Content-Encoding'];
const ALWAYS: readonly HeaderName[] = ['X-Request-Id', 'traceparent'];

/** The `headers` of an answer: those that every answer has, and `names`. */
export function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(
    [...ALWAYS, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Headers by which a request pays. */
export const PAYMENT_PARAMETERS: readonly Json[] = [
  {
    name: 'X-PAYMENT',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'x402 v1 payment: base64 of JSON. Without a payment the answer is 402.',
  },
  {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'x402 v2 payment: base64 of JSON. It wins over X-PAYMENT.',
  },
  {
    name: 'X-Prepaid-Wallet',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description:
      'Address of your wallet: the 402 then asks for its prepaid money alone. `error` is `prepaid_insufficient` where there is too little of it here: nothing is charged on the chain instead.',
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 16, maxLength: 128 },
    description:
      'Your idempotency key for this request: the same key gives the same answer again, uncharged.',
  },
];

/** Header for answers that the client may have already. */
export const KNOWN_PARAMETER: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'The `ETag` of an earlier answer: 304 where nothing has changed.',
};

/** Header for a part of a file. */
export const RANGE_PARAMETER: Json = {
  name: 'Range',
  in: 'header',
  required: false,
  schema: { type: 'string', examples: ['bytes=0-1023'] },
  description: 'One range of bytes: 206 with that part. Several, or none that the file has: all of it.',
};

/** Header by which an upload waits for its job. */
export const WAIT_PARAMETER: Json = {
  name: 'Prefer',
  in: 'header',
  required: false,
  schema: { type: 'string', examples: ['wait=20'] },
  description: '`wait=SECONDS`: answer when the job has ended, or after that time.',
};
