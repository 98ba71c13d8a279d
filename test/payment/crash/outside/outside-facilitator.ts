import type { Random } from '../../../rig/random.ts';
import { type FacilitatorServer, serveFacilitator } from '../../rig/facilitator-server.ts';
import type { Outside } from './outside.ts';
import { OutsideLedger, type Stage } from './outside-ledger.ts';

const DELAY_MS_MAX = 15;
/** Of the answers to settlements, which are lost although the money has moved. */
const LOST = 0.05;

/** A facilitator with its own books, which sometimes settles and does not say so. @param onStage told of each boundary of a payment */
export async function startOutsideFacilitator(
  random: Random,
  onStage: (stage: Stage) => void = () => undefined,
): Promise<{ readonly ledger: OutsideLedger; readonly facilitator: FacilitatorServer }> {
  const ledger = new OutsideLedger({
    random: random.fork(),
    repetition: random.pick(['told', 'refused'] as const),
    delayMsMax: DELAY_MS_MAX,
  });
  const facilitator = await serveFacilitator(ledger);
  const losing = random.fork();
  ledger.onStage = (stage) => {
    facilitator.behaviour.settle = losing.hits(LOST) ? 'drops_after' : 'none';
    onStage(stage);
  };
  return { ledger, facilitator };
}

/** The same, as the books outside of a server. */
export async function openOutsideLedger(random: Random, onStage: (stage: Stage) => void): Promise<Outside> {
  const { ledger, facilitator } = await startOutsideFacilitator(random, onStage);
  return {
    settings: { FACILITATOR: facilitator.url },
    transfers: ledger.transfers,
    begin: async () => undefined,
    calm: async () => [],
    counts: () => ({}),
    close: () => facilitator.close(),
  };
}
