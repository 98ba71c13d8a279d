import { PAY_TO } from '../../test/payment/rig/payments.ts';
import { PAYER_ATTACKS } from './payer-attacks.ts';
import type { Target } from './requests.ts';
import { STRANGER_ATTACKS } from './stranger-attacks.ts';
import { type Attack, Strangers } from './strangers.ts';
import { WORKSPACE_ATTACKS } from './workspace-attacks.ts';

/** Settings under which a new wallet can rent a workspace and cannot pay for a search or an upload. */
export const BESIEGED = {
  PAY_TO,
  LOCAL_BALANCE_USD: '0.02',
  SEARCH_PRICE_USD: '0.03',
  INGEST_PRICE_USD: '0.03',
};

/** By name. Each runs until it is over, or has sent what it may. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...STRANGER_ATTACKS,
  ...WORKSPACE_ATTACKS,
  ...PAYER_ATTACKS,
};

/** Carries one attack out. @param begun is called once it has all its connections, or is over */
export async function attack(
  name: string,
  target: Target,
  over: AbortSignal,
  begun: () => void,
): Promise<void> {
  const one = ATTACKS[name]!;
  const strangers = new Strangers(target.url, one, over);
  const running = one.run(strangers, target);
  await Promise.race([strangers.begun, running]);
  begun();
  await running;
}
