import { ChannelRefundSchema } from '@farthing/protocol/schema/prepaid';
import type { Services } from '../access/services.ts';
import { channelRefundDiscovery } from '../docs/discovery.ts';
import type { Route } from '../exchange/route.ts';

/** GET /agent/v1/channel/refund: what is left in a channel of `batch-settlement` back to its payer, for the payer's last voucher. */
export function channelRefundRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/channel/refund',
    operation: {
      operationId: 'refundChannel',
      summary: 'Get back what a channel has left',
      tag: 'Per request',
      security: 'payment',
      success: { status: 200, description: 'It was paid back.', schema: ChannelRefundSchema },
      errors: [404, 500, 503],
    },
    handle: (exchange) =>
      services.gate.refundChannel(exchange.payment, {
        amount: 0n,
        resource: `${services.baseUrl()}/agent/v1/channel/refund`,
        description: 'What your channel has left goes back to your wallet.',
        discovery: channelRefundDiscovery,
        paidIn: 'channel',
      }),
  };
}
