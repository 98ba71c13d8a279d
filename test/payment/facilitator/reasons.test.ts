import t from 'tap';
import { isCertain, saysUsed } from '../../../src/payment/facilitator/reasons.ts';

const HASH = `0x${'a'.repeat(64)}`;

t.test('only a refusal before sending, or a revert in a block, is certain', async (t) => {
  for (const [reason, transaction, message, certain] of [
    ['insufficient_funds', '', '', true],
    ['invalid_exact_evm_insufficient_balance', '', '', true],
    ['invalid_exact_evm_payload_authorization_valid_before', '', '', true],
    ['invalid_exact_evm_nonce_already_used', '', '', true],
    ['invalid_exact_evm_transaction_failed', HASH, '', true],
    ['settle_exact_failed_onchain', HASH, 'execution reverted', true],
    // Answers of `@x402/evm` 2.27 after it has broadcast the transfer, or may have.
    ['Timed out while waiting for transaction with hash "0xaa" to be confirmed.', '', '', false],
    ['The request took too long to respond.', '', '', false],
    ['HTTP request failed.', '', '', false],
    ['invalid_exact_evm_transaction_failed', '', 'HTTP request failed.', false],
    ['invalid_exact_evm_transaction_failed', HASH, 'settlement_pending, but failed to persist', false],
    ['invalid_exact_evm_transfer_event_mismatch', HASH, '', false],
    ['settlement_pending', HASH, '', false],
    ['insufficient_funds', HASH, '', false],
    ['settle_exact_evm_transaction_confirmation_timed_out', '', '', false],
    ['some_word_of_a_facilitator', '', '', false],
    ['', '', '', false],
  ] as const) {
    t.equal(isCertain({ reason, transaction, message }), certain, `${reason} ${message}`);
  }
});

t.test('a nonce that is gone is recognised in the words of the token contract, too', async (t) => {
  t.ok(saysUsed('The contract reverted: FiatTokenV2: authorization is used or canceled'));
  t.ok(saysUsed('invalid_exact_evm_nonce_already_used'));
  t.notOk(saysUsed('nonce too low'));
});
