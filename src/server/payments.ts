import type { Address } from '../domain/address.ts';
import type { Clock } from '../domain/clock.ts';
import type { EffectHandlers } from '../domain/payment.ts';
import type { FacilitatorCall } from '../metrics/metrics.ts';
import { observeFacilitator } from '../metrics/observed-facilitator.ts';
import { ASSETS } from '../payment/asset.ts';
import type { Facilitator } from '../payment/facilitator/facilitator.ts';
import { LocalFacilitator } from '../payment/facilitator/local-facilitator.ts';
import { RemoteFacilitator } from '../payment/facilitator/remote-facilitator.ts';
import { RpcWitness } from '../payment/facilitator/rpc-witness.ts';
import { PaymentGate } from '../payment/gate/gate.ts';
import { AnswerStore } from '../payment/records/answers.ts';
import { SignatureCheck } from '../payment/signature.ts';
import { Credits } from '../purchases/credits.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../state/store.ts';

export interface PaymentsOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly clock: Clock;
  readonly tenants: { folder(tenant: string): string };
  /** Budget of a Tenant's kept answers. */
  readonly answerBytesMax: number;
  readonly log: (event: object) => void;
  readonly observe: (call: FacilitatorCall) => void;
}

export interface Payments {
  readonly credits: Credits;
  /** Opens the gate. @param handlers commit and undo the effects of payments */
  gate(handlers: EffectHandlers): PaymentGate;
  /** Reads what the facilitator supports. A remote one that cannot be reached is logged, and asked again by each payment. */
  connect(): Promise<void>;
}

/** Recipient of play money without FARTHING_PAY_TO: a wallet without a known key. */
const NOBODY: Address = '0x00000000000000000000000000000000000fa271';
/** How long a signed payment may wait for its settlement, including the upload over a slow line. */
const MAX_TIMEOUT_SECONDS = 300;
const PURCHASES_MAX = 1024;

/** Opens the payments of one set of books, with the facilitator that the settings name or the local one. */
export function openPayments(options: PaymentsOptions): Payments {
  const { settings, store, clock, tenants, answerBytesMax, log, observe } = options;
  const credits = new Credits({ store, clock });
  const signatures = new SignatureCheck();
  const payTo = (settings.PAY_TO.toLowerCase() || NOBODY) as Address;
  const facilitator = observeFacilitator(openFacilitator(options, { payTo, signatures }), observe);
  return {
    credits,
    connect: () =>
      facilitator
        .connect()
        .catch((error: unknown) => log({ event: 'facilitator_unavailable', error: String(error) })),
    gate: (handlers) =>
      new PaymentGate({
        store,
        clock,
        settings: {
          assets: ASSETS,
          payTo,
          maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
          bodyNetworks: settings.X402_BODY_NETWORK === 'base' ? 'v1' : 'v2',
        },
        signatures,
        facilitator,
        handlers,
        answers: new AnswerStore({ tenants, bytesPerTenantMax: answerBytesMax }),
        answerKeepMinutes: settings.ANSWER_KEEP_MINUTES,
        journalLimits: { keepDays: settings.JOURNAL_KEEP_DAYS, entriesMax: settings.JOURNAL_ENTRIES_MAX },
        purchasesMax: PURCHASES_MAX,
        log,
      }),
  };
}

interface Terms {
  readonly payTo: Address;
  readonly signatures: SignatureCheck;
}

function openFacilitator(
  { settings, store, clock, log }: PaymentsOptions,
  { payTo, signatures }: Terms,
): Facilitator {
  if (settings.FACILITATOR_URL === '') {
    log({
      event: 'local_facilitator',
      note: 'No money moves: payments are verified and settled in play money. Set FARTHING_FACILITATOR_URL and FARTHING_PAY_TO for real ones.',
    });
    return new LocalFacilitator({
      store,
      clock,
      signatures,
      startBalance: settings.LOCAL_BALANCE_USD,
    });
  }
  return new RemoteFacilitator({
    url: settings.FACILITATOR_URL,
    assets: ASSETS,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock,
    bearerToken: settings.FACILITATOR_TOKEN || undefined,
    verifyUrls: settings.FACILITATOR_VERIFY_URLS,
    witness: settings.RPC_URL === '' ? undefined : new RpcWitness({ url: settings.RPC_URL }),
    confirms: settings.CONFIRM_SETTLEMENTS === '1',
    log,
  });
}
