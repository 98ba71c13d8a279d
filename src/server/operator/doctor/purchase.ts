import { openWallet } from '@farthing/cli/access/key-file';
import { Farthing, FarthingError, type PaymentAccount } from '@farthing/client';
import { assetOn } from '@farthing/payment/asset';
import { RpcNode } from '@farthing/payment/facilitator/rpc-node';
import { readTransfers } from '@farthing/payment/facilitator/rpc-witness';
import { formatUsd } from '@farthing/protocol/money';
import type { Finding } from '@farthing/protocol/schema/operator';
import type { Environment } from '../../settings/config.ts';
import type { Settings } from '../../settings/settings.ts';
import { TTL_MINUTES } from '../../workspace/workspace.ts';
import { ok, problem, warning } from '../finding.ts';

const CHECK = 'purchase';
const PROOF = 'proof of the purchase';

/** Where the running server answers by its settings. */
function urlOf({ BASE_URL, HOST, PORT }: Settings): string {
  const reached = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return BASE_URL || `http://${reached.includes(':') ? `[${reached}]` : reached}:${PORT}`;
}

/**
 * Buys the cheapest thing that is always charged, a workspace of the fewest minutes, from the running server as any agent does, and looks
 * for the transfer on the chain. The workspace is destroyed.
 */
export async function purchase(settings: Settings, environment: Environment): Promise<Finding[]> {
  const url = urlOf(settings);
  const account = await openWallet({ environment }).catch((error: Error) => error);
  if (account instanceof Error)
    return [problem(CHECK, account.message, 'Then ask again: farthing admin doctor --pay.')];
  const asset = assetOn(settings.NETWORK);
  if (!account)
    return [
      problem(
        CHECK,
        'there is no wallet to pay with',
        `Run "npx farthing wallet new", and send its address some ${asset.symbol} on ${asset.title}; or name its file in FARTHING_WALLET.`,
      ),
    ];
  const price = formatUsd(
    settings.WORKSPACE_BASE_USD + settings.WORKSPACE_MINUTE_USD * BigInt(TTL_MINUTES.min),
  );
  let bought: Bought;
  try {
    bought = await buy(url, account, price, TTL_MINUTES.min);
  } catch (error) {
    return [failure(error, url, account, `${price} USD in ${asset.symbol} on ${asset.title}`)];
  }
  const { usd, transaction, seconds } = bought;
  const what = `${account.address} paid ${usd} USD for a workspace of ${url} in ${seconds} s`;
  if (settings.FACILITATOR.length === 0) return [ok(CHECK, `${what}, in play money`)];
  return [ok(CHECK, what), await proof(settings, transaction, account, usd)];
}

interface Bought {
  readonly usd: string;
  readonly transaction: string;
  readonly seconds: string;
}

async function buy(
  baseUrl: string,
  account: PaymentAccount,
  maxPriceUsd: string,
  ttlMinutes: number,
): Promise<Bought> {
  const payments: { usd: string; transaction: string }[] = [];
  const client = new Farthing({
    baseUrl,
    account,
    maxPriceUsd,
    onPayment: (payment) => payments.push(payment),
  });
  const started = performance.now();
  const { workspace } = await client.workspaces.rent({ ttlMinutes });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  await workspace.dispose();
  return { ...(payments[0] ?? { usd: '0', transaction: '' }), seconds };
}

function failure(error: unknown, url: string, { address }: PaymentAccount, price: string): Finding {
  const code = error instanceof FarthingError ? error.code : undefined;
  const detail = (error as Error).message;
  if (code === 'server_unreachable' || code === 'answer_lost')
    return problem(
      CHECK,
      `no server answers at ${url}`,
      'Start it with the same settings ("make run"), then ask again. FARTHING_BASE_URL must lead to it.',
    );
  if (/insufficient_funds/.test(detail))
    return problem(CHECK, `the wallet ${address} has less than ${price}`, `Send ${address} ${price}.`);
  if (code === 'price_over_limit')
    return problem(CHECK, detail, 'The server runs with other prices: use its settings here.');
  return problem(CHECK, `${url} sold nothing: ${detail}`, 'See "reasons" and "payment" of its /readyz.');
}

/** The transfer as the chain's nodes have it. */
async function proof(
  { RPC_URL, NETWORK, PAY_TO }: Settings,
  transaction: string,
  { address }: PaymentAccount,
  usd: string,
): Promise<Finding> {
  if (RPC_URL.length === 0)
    return warning(
      PROOF,
      `the facilitator names transaction ${transaction}, which nobody has looked at`,
      'Set FARTHING_RPC_URL to a node of the chain.',
    );
  const asset = assetOn(NETWORK);
  const troubles: string[] = [];
  for (const url of RPC_URL) {
    try {
      const transfers = (await readTransfers(new RpcNode(url), asset, transaction)) ?? [];
      const transfer = transfers.find(
        ({ from, to, value }) =>
          from === address.toLowerCase() && to === PAY_TO.toLowerCase() && formatUsd(value) === usd,
      );
      if (transfer)
        return ok(
          PROOF,
          `block ${transfer.block} of ${asset.title} has ${usd} ${asset.symbol} from ${address} to ${PAY_TO}, transaction ${transaction}`,
        );
      troubles.push(`${new URL(url).host} does not show it`);
    } catch (error) {
      troubles.push((error as Error).message);
    }
  }
  return problem(
    PROOF,
    `transaction ${transaction} is not on the chain: ${troubles.join('; ')}`,
    'Ask again in a minute. If it stays so, the facilitator does not tell the truth: name another one, or set FARTHING_CONFIRM_SETTLEMENTS=1.',
  );
}
