import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Clock } from '../../../src/domain/clock.ts';
import { payerTenantId } from '../../../src/domain/id.ts';
import type {
  Address,
  Answer,
  Effect,
  EffectHandler,
  GateAnswer,
  PaidRequest,
  PaymentTiming,
  PreparedRequest,
  Quote,
  WorkOutcome,
} from '../../../src/domain/payment.ts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import { PaymentGate } from '../../../src/payment/gate/gate.ts';
import { AnswerStore } from '../../../src/payment/records/answers.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import { openStore, type Store, type Table } from '../../../src/state/store.ts';

export const PAY_TO: Address = '0x00000000000000000000000000000000000fa127';
export const PRICE = 6000n;
export const MAX_TIMEOUT_SECONDS = 300;

/** A clock that a test sets; it starts at the real time, so that real signatures fit. */
export class SetClock implements Clock {
  offsetMs = 0;
  now(): number {
    return Date.now() + this.offsetMs;
  }
}

export function wallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

export const addressOf = (account: PrivateKeyAccount) => account.address.toLowerCase() as Address;

export const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export interface Signing {
  value?: bigint;
  to?: string;
  validAfter?: bigint;
  validBefore?: bigint;
  nonce?: `0x${string}`;
  domain?: { name?: string; version?: string; chainId?: number; verifyingContract?: Address };
}

export interface SignedAuthorization {
  signature: `0x${string}`;
  authorization: {
    from: string;
    to: string;
    value: string;
    validAfter: string;
    validBefore: string;
    nonce: `0x${string}`;
  };
}

/** A real EIP-3009 signature; by default one that pays the price to the server, valid for a minute. */
export async function sign(account: PrivateKeyAccount, signing: Signing = {}): Promise<SignedAuthorization> {
  const message = {
    from: account.address,
    to: (signing.to ?? PAY_TO) as `0x${string}`,
    value: signing.value ?? PRICE,
    validAfter: signing.validAfter ?? 0n,
    validBefore: signing.validBefore ?? BigInt(Math.floor(Date.now() / 1000) + 60),
    nonce: signing.nonce ?? (`0x${randomBytes(32).toString('hex')}` as const),
  };
  const signature = await account.signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: BASE_USDC.address,
      ...signing.domain,
    },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const { from, to, value, validAfter, validBefore, nonce } = message;
  return {
    signature,
    authorization: {
      from,
      to,
      value: `${value}`,
      validAfter: `${validAfter}`,
      validBefore: `${validBefore}`,
      nonce,
    },
  };
}

export function encode(object: unknown): string {
  return Buffer.from(JSON.stringify(object)).toString('base64');
}

export function v1Header(payload: SignedAuthorization, { network = 'base' } = {}): string {
  return encode({ x402Version: 1, scheme: 'exact', network, payload });
}

export function v2Header(
  payload: SignedAuthorization,
  { identifier, accepted = {} }: { identifier?: string; accepted?: object } = {},
): string {
  return encode({
    x402Version: 2,
    payload,
    accepted: {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: payload.authorization.value,
      asset: BASE_USDC.address,
      payTo: payload.authorization.to,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      extra: { name: 'USD Coin', version: '2' },
      ...accepted,
    },
    ...(identifier && {
      extensions: { 'payment-identifier': { info: { required: false, id: identifier } } },
    }),
  });
}

export function quote(amount = PRICE): Quote {
  return {
    amount,
    resource: 'http://127.0.0.1:8402/agent/v1/search',
    description: 'Search a private index by meaning, by words and by picture.',
    discovery: {
      method: 'POST',
      routeTemplate: '/agent/v1/search',
      bodyType: 'json',
      bodyFields: { query: { type: 'string' } },
      bodyExample: { query: 'red bicycle' },
      outputSchema: { type: 'object', properties: { hits: { type: 'array' } } },
      outputExample: { hits: [] },
    },
  };
}

/** A side effect kept in the store, as an ingest or a workspace is: durable, invisible until committed. */
export class StoredThings implements EffectHandler {
  readonly table: Table<{ state: 'pending' | 'committed'; tokens: number }>;
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    this.table = store.table('test_things');
  }

  async make(id: string): Promise<Effect> {
    await this.table.put(id, { state: 'pending', tokens: 0 });
    return { kind: 'workspace_create', ref: { id } };
  }

  async commit({ id }: Effect['ref']): Promise<Answer> {
    return await this.#give(id!, 'commit');
  }

  async reissue({ id }: Effect['ref']): Promise<Answer> {
    return await this.#give(id!, 'reissue');
  }

  async undo({ id }: Effect['ref']): Promise<void> {
    await this.table.remove(id!);
  }

  async pending(): Promise<Effect['ref'][]> {
    return [...this.table.range()]
      .filter(({ value }) => value.state === 'pending')
      .map(({ key }) => ({ id: key }));
  }

  states(): string[] {
    return [...this.table.range()].map(({ value }) => value.state);
  }

  async #give(id: string, how: string): Promise<Answer> {
    const tokens = await this.#store.transaction(() => {
      const thing = this.table.get(id);
      if (!thing) throw new Error(`${how} of a thing that is not there`);
      this.table.put(id, { state: 'committed', tokens: thing.tokens + 1 });
      return thing.tokens + 1;
    });
    return { status: 201, headers: {}, body: { id, token: `token-${tokens}`, charged: true } };
  }
}

export interface Bench {
  readonly gate: PaymentGate;
  readonly store: Store;
  readonly local: LocalFacilitator;
  readonly things: StoredThings;
  readonly clock: SetClock;
  readonly events: Record<string, unknown>[];
  readonly folder: string;
  /** Makes the folder that a Tenant with an index has. */
  index(account: PrivateKeyAccount): void;
}

/** The same store, each of whose writes passes through `guard`: a transaction counts as one. */
export function guardWrites(store: Store, guard: <T>(apply: () => Promise<T>) => Promise<T>): Store {
  let inTransaction = false;
  const table = <V>(name: string): Table<V> => {
    const inner = store.table<V>(name);
    const guarded = <T>(apply: () => Promise<T>) => (inTransaction ? apply() : guard(apply));
    return {
      ...inner,
      put: (key, value) => guarded(() => inner.put(key, value)),
      putIfAbsent: (key, value) => guarded(() => inner.putIfAbsent(key, value)),
      remove: (key) => guarded(() => inner.remove(key)),
    };
  };
  return {
    ...store,
    table,
    transaction: <T>(work: () => T) =>
      guard(() =>
        store.transaction(() => {
          inTransaction = true;
          try {
            return work();
          } finally {
            inTransaction = false;
          }
        }),
      ),
  };
}

/** The local ledger behind a facilitator that cannot recall: what a remote one looks like to the gate. */
export function forgetful(local: Facilitator): Facilitator {
  return {
    outcomeIsKnowable: false,
    verifiesContractWallets: false,
    verify: (payment, terms) => local.verify(payment, terms),
    settle: (payment, terms) => local.settle(payment, terms),
    reconcile: (payment, terms) => local.settle(payment, terms),
    connect: async () => {},
    health: () => local.health(),
  };
}

/** What the fixtures need of a test. */
export interface Teardown {
  teardown(release: () => unknown): void;
}

/** A new folder that is removed when the test is over, after what was opened in it later has been closed. */
export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-payment-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface RigOptions {
  store?: Store;
  folder?: string;
  clock?: SetClock;
  facilitator?: (local: LocalFacilitator) => Facilitator;
  bodyNetwork?: 'eip155:8453' | 'base';
  /** What the gate (not the test) sees as the store. */
  seenStore?: (store: Store) => Store;
  /** The gate will die with open work: it is not closed. */
  dies?: boolean;
}

/** A real gate over a real store in a temporary folder, with the local facilitator unless another is given. */
export function openRig(t: Teardown, options: RigOptions = {}): Bench {
  const folder = options.folder ?? temporaryFolder(t);
  const store = options.store ?? openStore(join(folder, 'state'));
  const seen = options.seenStore?.(store) ?? store;
  const clock = options.clock ?? new SetClock();
  const signatures = new SignatureCheck(BASE_USDC);
  const local = new LocalFacilitator({
    store: seen,
    clock,
    asset: BASE_USDC,
    signatures,
    startBalance: 100_000_000n,
  });
  const things = new StoredThings(seen);
  const events: Record<string, unknown>[] = [];
  const handlers = { ingest: things, workspace_create: things, workspace_extend: things };
  const answers = new AnswerStore({
    tenants: { folder: (tenant) => join(folder, 'tenants', tenant) },
    bytesPerTenantMax: 2 ** 20,
  });
  const gate = new PaymentGate({
    store: seen,
    clock,
    settings: {
      asset: BASE_USDC,
      payTo: PAY_TO,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      bodyNetwork: options.bodyNetwork ?? 'eip155:8453',
    },
    signatures,
    facilitator: options.facilitator?.(local) ?? local,
    handlers: { ...handlers, workspace_extend: { ...bare(things) }, ingest: { ...bare(things) } },
    answers,
    answerKeepMinutes: 15,
    journalLimits: { keepDays: 400, entriesMax: 1_000_000 },
    flightsMax: 1000,
    log: (event) => events.push(event),
  });
  t.teardown(async () => {
    if (!options.dies) await gate.close();
    if (!options.store) await store.close();
  });
  const index = (account: PrivateKeyAccount) =>
    void mkdirSync(join(folder, 'tenants', payerTenantId(account.address)), { recursive: true });
  return { gate, store, local, things, clock, events, folder, index };
}

/** The same handler without its list of pending effects: one kind of effect lists them all. */
function bare(things: StoredThings): EffectHandler {
  return {
    commit: (ref) => things.commit(ref),
    undo: (ref) => things.undo(ref),
    reissue: (ref) => things.reissue(ref),
  };
}

export interface Asking {
  paymentSignature?: string;
  xPayment?: string;
  idempotencyKey?: string;
  hash?: string;
  amount?: bigint;
  priceFixed?: boolean;
  signal?: AbortSignal;
  mode?: 'pure' | 'effect';
  run?: (signal: AbortSignal) => Promise<WorkOutcome>;
  onPrepare?: () => Promise<void> | void;
}

let works = 0;

/** Work that says which run it was, so that two answers can be told apart. */
export async function numberedWork(): Promise<WorkOutcome> {
  works += 1;
  const work = works;
  return {
    charged: true,
    answer: (timing: PaymentTiming) => ({
      status: 200,
      headers: {},
      body: { work, timing: { ...timing }, charged: true },
    }),
  };
}

export function ask(asking: Asking): PaidRequest {
  const { paymentSignature, xPayment, idempotencyKey } = asking;
  return {
    quote: quote(asking.amount),
    credentials: { paymentSignature, xPayment, idempotencyKey },
    priceFixed: asking.priceFixed,
    signal: asking.signal ?? new AbortController().signal,
    prepare: async (): Promise<PreparedRequest> => {
      await asking.onPrepare?.();
      return {
        requestHash: asking.hash ?? 'a'.repeat(64),
        mode: asking.mode ?? 'pure',
        run: asking.run ?? numberedWork,
      };
    },
  };
}

/** Sends a request and reports its answer as delivered. */
export async function buy(bench: Pick<Bench, 'gate'>, asking: Asking): Promise<GateAnswer> {
  const answer = await bench.gate.handle(ask(asking));
  answer.delivered(true);
  return answer;
}

/** Sends a request whose answer is lost on its way. */
export async function buyAndLose(bench: Pick<Bench, 'gate'>, asking: Asking): Promise<GateAnswer> {
  const answer = await bench.gate.handle(ask(asking));
  answer.delivered(false);
  return answer;
}

export function receiptOf(answer: Pick<Answer, 'headers'>): Record<string, unknown> | undefined {
  const header = answer.headers['PAYMENT-RESPONSE'];
  return header === undefined
    ? undefined
    : (JSON.parse(Buffer.from(header, 'base64').toString()) as Record<string, unknown>);
}

export function chargesOf(bench: Pick<Bench, 'local'>): number {
  return [...bench.local.transfers()].length;
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
