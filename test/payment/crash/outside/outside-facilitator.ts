import type { Random } from '../../../rig/random.ts';
import { type FacilitatorServer, serveFacilitator } from '../../rig/facilitator-server.ts';
import type { Outside } from './outside.ts';
import { OutsideLedger, type Stage } from './outside-ledger.ts';
import { serveFakeNode } from './outside-node.ts';

const DELAY_MS_MAX = 15;
/** Share of the answers to settlements that are lost although the money has moved. */
const LOST = 0.05;
/** Share of the servers that can ask a node. */
const WITNESSED = 0.5;

interface OutsideFacilitator {
  readonly ledger: OutsideLedger;
  readonly settings: Readonly<Record<string, string>>;
  /** As {@link Outside} has it. */
  readonly provesAdvances: boolean;
  close(): Promise<void>;
}

/**
 * A facilitator with its own books, which sometimes settles and does not say so. @param onStage told of each boundary of a payment
 * @param hasNode the server can ask a node, and so payments in advance are proved; otherwise chance decides
 */
export async function startOutsideFacilitator(
  random: Random,
  onStage: (stage: Stage) => void = () => undefined,
  hasNode = false,
): Promise<OutsideFacilitator> {
  const repetition = random.pick(['told', 'refused'] as const);
  const ledger = new OutsideLedger({ random: random.fork(), repetition, delayMsMax: DELAY_MS_MAX });
  const facilitator: FacilitatorServer = await serveFacilitator(ledger);
  const isWitnessed = random.hits(WITNESSED);
  const node = isWitnessed || hasNode ? await serveFakeNode(ledger) : undefined;
  const losing = random.fork();
  ledger.onStage = (stage) => {
    facilitator.behaviour.settle = losing.hits(LOST) ? 'drops_after' : 'none';
    onStage(stage);
  };
  return {
    ledger,
    settings: { FACILITATOR: facilitator.url, ...(node && { RPC_URL: node.url }) },
    provesAdvances: repetition === 'told' || node !== undefined,
    close: async () => {
      node?.close();
      await facilitator.close();
    },
  };
}

/** The same, as the books outside of a server. */
export async function openOutsideLedger(
  random: Random,
  onStage: (stage: Stage) => void,
  hasNode: boolean,
): Promise<Outside> {
  const { ledger, settings, provesAdvances, close } = await startOutsideFacilitator(random, onStage, hasNode);
  return {
    settings,
    provesAdvances,
    transfers: ledger.transfers,
    begin: async () => undefined,
    calm: async () => [],
    counts: () => ({}),
    close,
  };
}
