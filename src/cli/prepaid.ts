import { parseUsd } from '@farthing/protocol/money';
import { explainSpending, openAccess } from './access/access.ts';
import { UsageError } from './commands/command-set.ts';
import { EXIT, type Io } from './terminal/io.ts';
import type { Call } from './words/specs.ts';

const OUTSIDE = { 'no-workspace': true } as const;

/** `wallet prepay USD` */
export async function walletPrepay({ words, values }: Call<'wallet prepay'>, io: Io): Promise<number> {
  const [usd] = words as readonly [string];
  checkAmount(usd);
  const access = await openAccess({ ...values, ...OUTSIDE }, io);
  const answer = await access.client.prepay(usd, { signal: io.signal });
  io.write(
    values.json
      ? `${JSON.stringify(answer)}\n`
      : `${answer.prepaid_usd} USD are prepaid at ${access.client.baseUrl}\n`,
  );
  explainSpending(access, io);
  return EXIT.done;
}

/** `wallet balance` */
export async function walletBalance({ values }: Call<'wallet balance'>, io: Io): Promise<number> {
  const { client } = await openAccess({ ...values, ...OUTSIDE }, io);
  const answer = await client.prepaidBalance({ signal: io.signal });
  const { prepaid_usd, refundable_usd } = answer;
  const idle = prepaid_usd === refundable_usd ? '' : `; ${refundable_usd} USD can be had back`;
  io.write(
    values.json
      ? `${JSON.stringify(answer)}\n`
      : `${prepaid_usd} USD are prepaid at ${client.baseUrl}${idle}\n`,
  );
  return EXIT.done;
}

/** `wallet refund USD` */
export async function walletRefund({ words, values }: Call<'wallet refund'>, io: Io): Promise<number> {
  const [usd] = words as readonly [string];
  checkAmount(usd);
  const { client } = await openAccess({ ...values, ...OUTSIDE }, io);
  const answer = await client.refundPrepaid(usd, { signal: io.signal });
  io.write(
    values.json
      ? `${JSON.stringify(answer)}\n`
      : `${answer.refund_usd} USD are owed to your wallet (${answer.id}); ${answer.prepaid_usd} USD stay prepaid\n`,
  );
  return EXIT.done;
}

function checkAmount(text: string): void {
  try {
    parseUsd(text);
  } catch {
    throw new UsageError(`"${text}" is not an amount of US dollars, such as 0.5.`);
  }
}
