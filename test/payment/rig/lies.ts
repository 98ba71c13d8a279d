/** A facilitator's false answer to a settlement. It settles first, unless `unsettled`. */
interface LyingAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly unsettled?: true;
}

const MADE_UP_HASH = `0x${'c'.repeat(64)}`;

const refusal = (errorReason: string, transaction = ''): LyingAnswer => ({
  status: 200,
  body: { success: false, errorReason, transaction, network: 'eip155:8453' },
});
const success = (status: number): LyingAnswer => ({
  status,
  body: { success: true, transaction: MADE_UP_HASH, network: 'eip155:8453' },
  unsettled: true,
});

export const LIES = lies({
  settled_302: { status: 302, headers: { location: '/login' } },
  settled_307: { status: 307, headers: { location: '/elsewhere' } },
  settled_400: { status: 400, body: { error: 'bad request' } },
  settled_400_huge: { status: 400, body: { error: 'x'.repeat(100_000) } },
  settled_401: { status: 401, body: { error: 'unauthorized' } },
  settled_404: { status: 404, body: { error: 'no such path' } },
  settled_429: { status: 429, body: { error: 'slow down' } },
  settled_429_later: { status: 429, headers: { 'retry-after': '1' }, body: { error: 'slow down' } },
  settled_poor: refusal('insufficient_funds'),
  settled_signature: refusal('invalid_exact_evm_payload_signature'),
  settled_used: refusal('authorization_already_used'),
  settled_expired: refusal('invalid_exact_evm_payload_authorization_valid_before'),
  settled_reverted: refusal('invalid_exact_evm_transaction_failed', MADE_UP_HASH),
  /** Nothing is moved. */
  never_settled: success(200),
  never_settled_400: success(400),
  poor_unsettled: { ...refusal('insufficient_funds'), unsettled: true },
  /** The truth: it did not look at the settlement. */
  turned_away: { status: 401, body: { error: 'unauthorized' }, unsettled: true },
  bad_request_unsettled: { status: 400, body: { error: 'bad request' }, unsettled: true },
});

export type Lie = keyof typeof LIES;

function lies<Name extends string>(answers: Readonly<Record<Name, LyingAnswer>>): typeof answers {
  return answers;
}
