import { formatGwei, formatUnits } from 'viem';
import type { Payment } from '../../../src/payment/payment.ts';
import { unitsOf } from '../../../src/payment/self/coin-price.ts';
import { PAY_TO } from '../rig/payments.ts';
import { openSelfRig, pay, TERMS } from './self-rig.ts';

/**
 * Gas and margin of 200 sales of this server's own facilitator, on anvil with Circle's USDC and ETH at 3,000 USD: the table of
 * docs/get-paid.md. `node test/payment/self/gas-figures.ts`
 */

const BASE_FEES_GWEI = [5_000_000n, 10_000_000n, 50_000_000n];
const SALES = [
  { what: 'search', amount: 6000n, count: 120 },
  { what: 'item', amount: 2000n, count: 40 },
  { what: 'upload', amount: 30_000n, count: 40 },
];
const BUYERS = 20;
const BLOCK_MS = 300;
const usd = (units: bigint | number) => Number(formatUnits(BigInt(Math.round(Number(units))), 6)).toFixed(5);

const releases: (() => unknown)[] = [];
const t = { teardown: (release: () => unknown) => void releases.push(release), testdir: () => '' };

async function figures(baseFee: bigint, together: number): Promise<string> {
  const rig = await openSelfRig(t as never, {
    settings: { SETTLED_TOGETHER_MAX: String(together) },
    paces: { gatherMs: 1000 },
  });
  const { chain, facilitator, settler } = rig;
  const payments: Payment[] = [];
  for (const { amount, count } of SALES)
    for (let index = 0; index < count; index++) payments.push(await pay(chain, { value: amount }));
  await chain.control.setAutomine(false);
  let isOver = false;
  const mining = (async () => {
    while (!isOver) {
      await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
      await chain.control.mine({ blocks: 1 });
      await new Promise((resolve) => setTimeout(resolve, BLOCK_MS));
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 3 * BLOCK_MS));
  await settler.read();
  const sold = { count: 0, brought: 0n, wei: 0n, notSold: new Map<string, number>() };
  const buy = async () => {
    for (let payment = payments.pop(); payment; payment = payments.pop()) {
      const { value: amount } = payment;
      try {
        const terms = { ...TERMS, amount };
        await facilitator.verify(payment, terms);
        let told: Awaited<ReturnType<typeof facilitator.reconcile>> = await facilitator.settle(
          payment,
          terms,
        );
        while (told.kind === 'unknown') told = await facilitator.reconcile(payment, terms);
        if (told.kind !== 'settled') throw new Error(JSON.stringify(told));
        sold.count += 1;
        sold.brought += amount;
        sold.wei += BigInt(told.by!.gasWei!);
      } catch (error) {
        if ((error as { code?: string }).code !== 'settlement_too_dear') throw error;
        const { what } = SALES.find((sale) => sale.amount === amount)!;
        sold.notSold.set(what, (sold.notSold.get(what) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: BUYERS }, buy));
  isOver = true;
  await mining;
  if ((await chain.balance(PAY_TO)) !== sold.brought) throw new Error('the chain says otherwise');
  const cost = unitsOf(sold.wei, { price: 300_000_000_000n, source: 'setting' });
  const tip = 1_000_000n;
  const units = sold.wei / (baseFee + tip) / BigInt(sold.count || 1);
  await rig.close();
  for (const release of releases.splice(0).reverse()) await release();
  return `| ${formatGwei(baseFee)} | ${together === 1 ? 'alone' : `up to ${together} together`} | ${sold.count} | ${units} | ${usd(
    cost / BigInt(sold.count || 1),
  )} | ${usd(sold.brought)} | ${usd(sold.brought - cost)} | ${
    [...sold.notSold].map(([what, count]) => `${count} × ${what}`).join(', ') || '–'
  } |`;
}

console.log(
  '| base fee, gwei | settled | sold of 200 | gas each | gas each, USD | brought in, USD | left, USD | not sold |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const baseFee of BASE_FEES_GWEI)
  for (const together of [1, 20]) console.log(await figures(baseFee, together));
