import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, http, nonceManager, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base, baseSepolia } from 'viem/chains';
import { transactionReceipt } from './transaction-receipt.ts';

/**
 * A real facilitator in a process of its own, made of the protocol's packages, in front of a real chain. Environment: NETWORK, RPC_URL,
 * PRIVATE_KEY and WALLET_FACTORIES (whose contract wallets it deploys, ERC-6492); prints its address as one line of JSON. `POST /behave {"settle": …}` makes the next settlements
 * lose their answers after the money moved (`drops_after`), be answered 400 then (`refuses_after`), or be answered with a success and not made
 * (`never`).
 */

const { NETWORK = 'eip155:8453' } = process.env;
const account = privateKeyToAccount(process.env.PRIVATE_KEY as `0x${string}`, { nonceManager });
const client = createWalletClient({
  account,
  chain: NETWORK === 'eip155:84532' ? baseSepolia : base,
  transport: http(process.env.RPC_URL),
  pollingInterval: 20,
}).extend(publicActions);
const signer = toFacilitatorEvmSigner({
  address: account.address,
  readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
  writeContract: (args) => client.writeContract(args),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: ({ hash }) => transactionReceipt(client, hash),
  getCode: (args) => client.getCode(args),
});
const facilitator = new x402Facilitator();
registerExactEvmScheme(facilitator, {
  signer,
  networks: NETWORK as `eip155:${number}`,
  eip6492AllowedFactories: (process.env.WALLET_FACTORIES ?? '')
    .split(',')
    .filter((address) => address !== ''),
});
let settling: 'none' | 'drops_after' | 'refuses_after' | 'never' = 'none';

interface Asked {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

const server = createServer(async (request, response) => {
  const reply = (body: object, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.url === '/supported') return reply(facilitator.getSupported());
    const body = JSON.parse(await textOf(request)) as Asked & { settle?: typeof settling };
    if (request.url === '/behave') {
      settling = body.settle ?? 'none';
      return reply({ settle: settling });
    }
    const { paymentPayload, paymentRequirements } = body;
    if (request.url === '/verify')
      return reply(await facilitator.verify(paymentPayload, paymentRequirements));
    if (settling === 'never')
      return reply({ success: true, transaction: `0x${'c'.repeat(64)}`, network: NETWORK });
    const settled = await facilitator.settle(paymentPayload, paymentRequirements);
    if (settling === 'drops_after') return void request.socket.destroy();
    if (settling === 'refuses_after') return reply({ error: 'bad request' }, 400);
    return reply(settled);
  } catch (error) {
    return reply({ error: String(error) }, 500);
  }
});

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
// The process that started it is gone when its end of this pipe is closed.
process.stdin.on('end', () => process.exit(0)).resume();
