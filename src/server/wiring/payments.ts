import { native } from '@farthing/native';
import { type Asset, assetOn, escrowOn, prepaidOn } from '@farthing/payment/asset';
import { Channels } from '@farthing/payment/channel/channels';
import { Claims } from '@farthing/payment/channel/claims';
import { ChannelDesk } from '@farthing/payment/channel/desk';
import { withChannels } from '@farthing/payment/channel/with-channels';
import type { Facilitator } from '@farthing/payment/facilitator/facilitator';
import { SELF } from '@farthing/payment/facilitator/facilitators';
import { LocalFacilitator } from '@farthing/payment/facilitator/local-facilitator';
import { RemoteFacilitator } from '@farthing/payment/facilitator/remote-facilitator';
import { RpcWitness } from '@farthing/payment/facilitator/rpc-witness';
import { PaymentGate } from '@farthing/payment/gate/gate';
import { PurchaseLimits } from '@farthing/payment/gate/purchase-limits';
import { payToFault } from '@farthing/payment/pay-to';
import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import { withPrepaid } from '@farthing/payment/prepaid/with-prepaid';
import type { EffectHandlers } from '@farthing/payment/purchase';
import { AnswerStore } from '@farthing/payment/records/answers';
import type { Escrow } from '@farthing/payment/self/escrow';
import { SignatureCheck } from '@farthing/payment/signature';
import type { SignClaims } from '@farthing/payment/wire/signed-receipt';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import type { Owners } from '@farthing/queues/owners';
import type { FacilitatorCall } from '../metrics/metrics.ts';
import { observeFacilitator } from '../metrics/observed-facilitator.ts';
import { ConfigError } from '../settings/config.ts';
import { groupOf, type Settings } from '../settings/settings.ts';
import type { Store } from '../state/store.ts';
import { facilitatorAddresses } from './facilitator-addresses.ts';

export interface PaymentsOptions {
  readonly settings: Settings;
  /** Absolute path of the data folder. */
  readonly data: string;
  readonly clock: Clock;
  readonly owners: Owners;
  readonly tenants: { folder(tenant: string): string };
  readonly log: (event: object) => void;
  readonly observe: (call: FacilitatorCall) => void;
  /** Signs receipts as this server. */
  readonly sign: SignClaims;
  /** For tests. */
  readonly settlementWaitSecondsMax?: number;
}

/** The payments of all stores: one facilitator, and one set of limits. */
export interface Payments {
  /** Opens the gate of a store. @param handlers commit and undo the effects of payments @param prepaid lies in the same store */
  gate(store: Store, handlers: EffectHandlers, prepaid: PrepaidBalances): PaymentGate;
  /** Asks the facilitator what it supports. If it cannot be reached, that is logged and each payment asks again. */
  connect(): Promise<void>;
  /** To be called once all gates are closed. */
  close(): Promise<void>;
}

/** Recipient of play money without FARTHING_PAY_TO: an address without a known key. */
const PLAY_RECIPIENT: Address = '0x00000000000000000000000000000000000fa271';
/** How long a signed payment may wait for its settlement, including the upload over a slow connection. */
const MAX_TIMEOUT_SECONDS = 300;
const PURCHASES_MAX = 1024;
/** Six blocks of Base: what a facilitator has not answered by then is found on the chain later. */
const SETTLEMENT_WAIT_SECONDS_MAX = 12;
/** A client that lost its answer retries within minutes. */
const ANSWER_KEEP_MINUTES = 15;
/** 5 GB at half a kilobyte each; totals count the dropped ones. */
const JOURNAL_ENTRIES_MAX = 10_000_000;
/** Same as the wait of a request for the log. */
const STABLE_MS_MAX = 5000;
/** Between two checks that payments can be verified, and between those after one that failed. */
const CHECK_MS = 60_000;
const CHECK_AGAIN_MS = 10_000;
const ANSWER_BYTES_PER_TENANT_MAX = 64 * 2 ** 20;

/**
 * Opens the payments with the facilitators of the settings, or else with play money, whose balances are in the payer's store.
 * @throws ConfigError if nothing could be sold with these settings
 */
export async function openPayments(options: PaymentsOptions): Promise<Payments> {
  const { settings, clock, owners, tenants, log, observe } = options;
  const { settlementWaitSecondsMax = SETTLEMENT_WAIT_SECONDS_MAX } = options;
  const judgesAnyLength = settings.FACILITATOR.length > 0 && settings.RPC_URL.length > 0;
  const signatures = new SignatureCheck(native, { judgesAnyLength });
  const payTo = (settings.PAY_TO.toLowerCase() || PLAY_RECIPIENT) as Address;
  const purchaseLimits = new PurchaseLimits(PURCHASES_MAX, owners);
  const answers = new AnswerStore({ tenants, bytesPerTenantMax: ANSWER_BYTES_PER_TENANT_MAX });
  const asset = assetOn(settings.NETWORK);
  const knows = (payer: Address) => owners.knows(payer);
  const opened = await openFacilitators(options, { asset, payTo, signatures, knows });
  const remote = opened?.facilitator;
  if (!remote)
    log({
      event: 'local_facilitator',
      note: 'No money moves: payments are verified and settled in play money. Set FARTHING_FACILITATOR and FARTHING_PAY_TO for real ones.',
    });
  const local = (store: Store) =>
    new LocalFacilitator({ store, clock, signatures, startBalance: settings.LOCAL_BALANCE_USD });
  return {
    close: async () => opened?.close(),
    connect: async () =>
      opened
        ?.connect()
        .catch((error: unknown) => log({ event: 'facilitator_unavailable', error: String(error) })),
    gate: (store, handlers, prepaid) => {
      const purses = withPrepaid(observeFacilitator(remote ?? local(store), observe), prepaid, signatures);
      // In a cluster a channel's books may be on another server than its next voucher.
      const escrow = store.stable ? undefined : opened?.escrow;
      const channels = new Channels({ store, clock });
      const offer = escrowOn(settings.NETWORK);
      const unclaimed = escrow ? 0 : [...channels.owed()].length;
      if (unclaimed > 0)
        log({
          level: 'error',
          event: 'channels_unclaimed',
          channels: unclaimed,
          note: 'They have sold, and FARTHING_FACILITATOR=self with its gas key claims it before their payers may withdraw.',
        });
      return new PaymentGate({
        store,
        clock,
        settings: {
          assets: [asset],
          prepaid: prepaidOn(settings.NETWORK),
          get escrow() {
            return escrow?.terms && { asset: offer, terms: escrow.terms };
          },
          payTo,
          maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
          service: groupOf(settings, 'service'),
          bodyNetworks: settings.X402_BODY_NETWORK === 'base' ? 'v1' : 'v2',
        },
        signatures,
        facilitator: afterStable(escrow ? withChannels(purses, { channels, escrow }) : purses, store),
        prepaid,
        desk: escrow && new ChannelDesk(channels, new Claims({ channels, escrow, asset, clock, log })),
        holdMsMax: settlementWaitSecondsMax * 1000,
        // The store's next owner has only its log.
        answersAfterNote: store.stable !== undefined,
        handlers,
        answers,
        answerKeepMinutes: ANSWER_KEEP_MINUTES,
        journalLimits: { keepDays: settings.JOURNAL_KEEP_DAYS, entriesMax: JOURNAL_ENTRIES_MAX },
        purchaseLimits,
        // Nothing was paid with play money: a receipt would be false.
        ...(remote && { sign: options.sign }),
        log,
      });
    },
  };
}

/** Settles, and reconciles (which may settle again), only once the changes that led to it are safe in the store's log. */
function afterStable(facilitator: Facilitator, store: Store): Facilitator {
  if (!store.stable) return facilitator;
  const stable = () => store.stable!();
  return {
    ...facilitator,
    settle: async (payment, terms) => {
      await stableInTime(stable());
      return facilitator.settle(payment, terms);
    },
    reconcile: async (payment, terms) => {
      await stableInTime(stable());
      return facilitator.reconcile(payment, terms);
    },
  };
}

/** Waits for the log only as long as the request does: a purchase must not be charged after its request was given up. @throws books_unavailable */
async function stableInTime(stable: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const error = new FarthingError(
      'books_unavailable',
      'The books cannot be written. Nothing was charged.',
      {
        retryAfterS: 5,
      },
    );
    timer = setTimeout(() => reject(error), STABLE_MS_MAX);
  });
  try {
    await Promise.race([stable, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

interface FacilitatorTerms {
  readonly asset: Asset;
  readonly payTo: Address;
  readonly signatures: SignatureCheck;
  readonly knows: (payer: Address) => boolean;
}

/** Undefined where the settings name none. @throws ConfigError */
async function openFacilitators(
  options: PaymentsOptions,
  { asset, payTo, signatures, knows }: FacilitatorTerms,
): Promise<
  | {
      readonly facilitator: Facilitator;
      readonly escrow: Escrow | undefined;
      connect(): Promise<void>;
      close(): Promise<void>;
    }
  | undefined
> {
  const { settings, clock, log } = options;
  const fault = settings.PAY_TO === '' ? undefined : await payToFault(settings.PAY_TO, asset);
  if (fault !== undefined) throw new ConfigError(`FARTHING_PAY_TO: ${fault}`);
  if (settings.FACILITATOR.length === 0) return undefined;
  const addresses = (await facilitatorAddresses(settings)).values();
  const witness = settings.RPC_URL.length === 0 ? undefined : new RpcWitness({ urls: settings.RPC_URL });
  const self =
    witness && settings.FACILITATOR.includes(SELF)
      ? await (await import('./open-self.ts')).openSelf({
          ...options,
          asset,
          payTo,
          signatures,
          witness,
        })
      : undefined;
  const facilitator = new RemoteFacilitator({
    facilitators: settings.FACILITATOR.map((named) =>
      named === SELF ? self!.settler : addresses.next().value!,
    ),
    assets: [asset],
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    service: groupOf(settings, 'service'),
    clock,
    witness,
    confirms: settings.CONFIRM_SETTLEMENTS === '1',
    knows,
    log,
  });
  let watch: NodeJS.Timeout | undefined;
  const check = async () => {
    const pauseMs = (await facilitator.check()) ? CHECK_MS : CHECK_AGAIN_MS;
    watch = isClosed ? undefined : setTimeout(check, pauseMs).unref();
  };
  let isClosed = false;
  return {
    facilitator,
    escrow: self?.escrow,
    connect: async () => {
      // A node that is away is asked again when channels are looked after.
      await self?.escrow.connect().catch(() => undefined);
      await facilitator.connect().catch((error: unknown) => {
        void check();
        throw error;
      });
      await check();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(watch);
      await self?.close();
    },
  };
}
