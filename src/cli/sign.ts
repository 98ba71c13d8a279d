import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { FarthingError, signPayment } from '../client/index.ts';
import { COMMON_OPTIONS } from './access.ts';
import { EXIT, type Io } from './io.ts';
import { openWallet } from './wallet.ts';

const MAX_PRICE_USD = '0.1';

/** `sign`: reads the headers of a 402 from the standard input and prints the paying header, for clients such as curl. */
export async function signCommand(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: COMMON_OPTIONS });
  const account = await openWallet(io);
  if (!account) throw new FarthingError('wallet_missing', 'There is no wallet here.');
  const required = /^payment-required:\s*(\S+)/im.exec(await text(process.stdin))?.[1];
  if (required === undefined)
    throw new FarthingError(
      'payment_unsupported',
      'There is no PAYMENT-REQUIRED header in the input: use curl -D -.',
    );
  const headers = await signPayment(required, { account, maxPriceUsd: values['max-price'] ?? MAX_PRICE_USD });
  for (const [name, value] of Object.entries(headers)) io.write(`${name}: ${value}\n`);
  return EXIT.done;
}
