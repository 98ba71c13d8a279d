import type { Test } from 'tap';
import type { GateAnswer, WorkOutcome } from '../../../src/payment/purchase.ts';
import type { Misbehaviour } from './facilitator-server.ts';
import { sign, v2Header, wallet } from './payments.ts';
import { buyPatiently, openRemoteRig, type RemoteRigOptions } from './remote-rig.ts';
import { type Asking, buy } from './requests.ts';

const PAYERS = 5;
/** After every circuit's longest period. */
const MENDED_AFTER_MS = 61_000;

interface FivePayersOptions extends Pick<RemoteRigOptions, 'chain'> {
  readonly call: 'verify' | 'settle';
  readonly how: Misbehaviour;
  readonly mode: 'pure' | 'effect';
}

/**
 * Five payers buy one answer each while a facilitator misbehaves. After it was mended, those who were not served send the same
 * request with a fresh payment. @returns what they were told, and the charges in the facilitator's ledger
 */
export async function fivePayers(t: Test, { call, how, mode, chain }: FivePayersOptions) {
  const rig = await openRemoteRig(t, { chain, ...(how === 'silent' && { silent: call }) });
  const payers = Array.from({ length: PAYERS }, wallet);
  for (const payer of payers) rig.index(payer);
  const askings = Array.from(payers.keys(), (at): Asking => {
    const run = async (): Promise<WorkOutcome> => ({
      charged: true,
      effect: await rig.things.make(`thing ${at}`),
    });
    return { mode, ...(mode === 'effect' && { run }), hash: String(at).repeat(64) };
  });
  const served = new Set<number>();
  const all = async (purchase: typeof buy) => {
    const outcomes: string[] = [];
    for (const [at, payer] of payers.entries()) {
      if (served.has(at)) continue;
      const validBefore = BigInt(Math.floor(rig.clock.now() / 1000) + 280);
      const paymentSignature = v2Header(await sign(payer, { validBefore }));
      const outcome = await outcomeOf(purchase(rig, { ...askings[at], paymentSignature }));
      if (outcome === SERVED) served.add(at);
      outcomes.push(outcome);
    }
    return counted(outcomes);
  };
  rig.server.behaviour[call] = how;
  const told = await all(buy);
  const chargedThen = rig.charges();
  rig.server.behaviour[call] = 'none';
  rig.patient();
  rig.clock.offsetMs += MENDED_AFTER_MS;
  const toldAfter = await all(buyPatiently);
  await rig.gate.close();
  return { told, chargedThen, toldAfter, charged: rig.charges(), books: rig.gate.journal.totals(), rig };
}

const SERVED = '200';

/** Status of the answer, with the word of a 402, or the code of the error. */
async function outcomeOf(bought: Promise<GateAnswer>): Promise<string> {
  try {
    const { status, body } = await bought;
    if (status === 402) return `402 ${body.error}`;
    return status < 300 ? SERVED : String(status);
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** How often each outcome came. */
function counted(outcomes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} × \`${outcome}\``).join(', ') || 'nothing owed';
}
