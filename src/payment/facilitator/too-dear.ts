import { FarthingError } from '@farthing/protocol/error';

/** Fees of a network fall again within minutes. */
const RETRY_AFTER_S = 60;

/** The network's fees are above the price: nothing is sold that way, and nothing was charged. */
export function settlementTooDear(): FarthingError {
  return new FarthingError(
    'settlement_too_dear',
    'The network asks for more gas now than this request costs, so it is not sold. Nothing was charged. Try again later, or buy what costs more: prepaid money and workspaces need one settlement for many requests.',
    { retryAfterS: RETRY_AFTER_S },
  );
}
