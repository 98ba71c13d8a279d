import t from 'tap';
import { readSettlement, readVerification } from '../../../src/payment/facilitator/messages.ts';
import { paymentOf, sign, v2Header, wallet } from '../rig/payments.ts';

const payment = paymentOf({ paymentSignature: v2Header(await sign(wallet(), {})) });
const reply = (status: number, body: object) =>
  ({ kind: 'reply', status, body, header: () => undefined }) as const;

t.test('the cause of a facilitator’s trouble is told with what its support asks for', async (t) => {
  const cause = { errorMessage: 'the node is behind', correlationId: '9f30-EWR' };
  t.match(
    readSettlement(reply(500, { success: false, errorReason: 'unexpected_error', ...cause }), payment),
    {
      kind: 'unknown',
      detail: '/settle answered 500: unexpected_error: the node is behind: correlation id 9f30-EWR',
    },
  );
  t.equal(
    readVerification(reply(502, cause), payment),
    '/verify answered 502: the node is behind: correlation id 9f30-EWR',
  );
  t.equal(readVerification(reply(500, {}), payment), '/verify answered 500');
  const long = readVerification(reply(500, { errorMessage: 'x'.repeat(10_000) }), payment);
  t.ok(String(long).length < 300, 'a long one is cut');
});
