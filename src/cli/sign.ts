import { text } from 'node:stream/consumers';
import { FarthingError, signPayment } from '@farthing/client';
import { amountOf } from './access/consent.ts';
import { openWallet, walletMissing } from './access/key-file.ts';
import { EXIT, type Io } from './terminal/io.ts';
import type { Call } from './words/specs.ts';

const MAX_PRICE_USD = '0.1';

/** `sign`: reads the headers of a 402 from the standard input and prints the paying header, for clients such as curl. */
export async function signCommand({ values }: Call<'sign'>, io: Io): Promise<number> {
  const maxPriceUsd = values['max-price'] ?? MAX_PRICE_USD;
  amountOf('max-price', maxPriceUsd);
  const account = await openWallet(io);
  if (!account) throw walletMissing();
  const required = /^payment-required:\s*(\S+)/im.exec(await text(process.stdin))?.[1];
  if (required === undefined)
    throw new FarthingError(
      'payment_unsupported',
      'There is no PAYMENT-REQUIRED header in the input: use curl -D -.',
    );
  const headers = await signPayment(required, { account, maxPriceUsd });
  for (const [name, value] of Object.entries(headers)) io.write(`${name}: ${value}\n`);
  return EXIT.done;
}
