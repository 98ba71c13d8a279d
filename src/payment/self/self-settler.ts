import { setTimeout as after } from 'node:timers/promises';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { Limit } from '@farthing/queues/limit';
import type { Asset } from '../asset.ts';
import { type ChainWitness, provenBy } from '../facilitator/chain-witness.ts';
import { Circuit } from '../facilitator/circuit.ts';
import type { GasHealth, SettledBy, Verification } from '../facilitator/facilitator.ts';
import { SELF } from '../facilitator/facilitators.ts';
import { saysUsed } from '../facilitator/reasons.ts';
import { type RpcNode, RpcRefusal } from '../facilitator/rpc-node.ts';
import type { Heard, Settler, Told } from '../facilitator/settler.ts';
import type { PaymentFault } from '../fault.ts';
import { type Hex, type Payment, paymentKey, type Terms } from '../payment.ts';
import { isOfContract, type SignatureCheck } from '../signature.ts';
import type { Barred } from './barred.ts';
import type { GasState } from './gas-state.ts';
import { isRevert, type Nodes, REVERTED_CODE } from './nodes.ts';
import { type Outcome, REVERTED, reportAnother } from './outcome.ts';
import { Together, TooDear } from './together.ts';
import type { Transactions } from './transactions.ts';
import { type Call, MULTICALL, mayDeploy, revertReason, transferCall } from './transfer-call.ts';

export interface SelfSettlerDeps {
  /** The coin that it settles. */
  readonly asset: Asset;
  /** Lower case. */
  readonly payTo: Address;
  readonly signatures: SignatureCheck;
  readonly nodes: Nodes;
  readonly witness: ChainWitness;
  readonly gas: GasState;
  readonly transactions: Transactions;
  readonly barred: Barred;
  /** Units that a settlement may take. */
  readonly gasMax: bigint;
  /** Most payments of one transaction, and how long one waits for others. */
  readonly togetherMax: number;
  readonly gatherMs: number;
  readonly clock: Clock;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** Outcome of a payment: known at once, or by its transaction. */
type Begun =
  | { readonly told: Told; readonly outcome?: undefined }
  | { readonly told?: undefined; readonly outcome: Promise<Outcome> };

/** Nodes retain few transactions of one account (geth: 16 for certain, and 64 more): the others wait here, payers in turn. */
const SETTLE_LIMITS = { insideMax: 64, ownerInsideMax: 32, waitingMax: 1024, waitMsMax: 30_000 };
/** Maximum of abandoned transactions, beyond which nothing more is signed. */
const STUCK_MAX = 256;
/** First four bytes of keccak256 of `balanceOf(address)` (ERC-20). */
const BALANCE_OF = '0x70a08231';
/** A block of Base comes every two seconds, and a node may be one behind. */
const BEHIND_MS_MAX = 3000;
const BEHIND_PAUSE_MS = 250;

/**
 * This server as its own facilitator. Verifies by its own checks and by a simulation at a node; settles by a transaction of the gas
 * wallet. What it says of a payment it has seen on the chain.
 */
export class SelfSettler implements Settler {
  readonly url = SELF;
  readonly isWitness = true;
  readonly extensions = undefined;
  readonly verifying: Circuit;
  readonly settling: Circuit;
  readonly #deps: SelfSettlerDeps;
  readonly #beginning = new Map<string, Promise<Begun>>();
  readonly #together: Together;
  /** The chain has the contract that makes several payments in one transaction; undefined until it was looked for. */
  #hasMulticall: boolean | undefined;
  readonly #settling = new Limit(SETTLE_LIMITS, () => new Error('too many settlements wait'));

  constructor(deps: SelfSettlerDeps) {
    this.#deps = deps;
    const { transactions, gas, togetherMax: max, gatherMs: waitMs } = deps;
    this.#together = new Together({ transactions, gas, max, waitMs });
    const circuit = (call: string) =>
      new Circuit({
        clock: deps.clock,
        onOpen: () => deps.log({ level: 'warn', event: 'facilitator_circuit_open', of: `self/${call}` }),
      });
    this.verifying = circuit('verify');
    this.settling = circuit('settle');
  }

  settles({ network }: Asset): boolean {
    return network === this.#deps.asset.network;
  }

  obstacle(): string | undefined {
    if (this.settling.waitMs() > 0) return 'transactions are not mined';
    return this.#deps.gas.obstacle();
  }

  tooDear(amount: bigint): string | undefined {
    return this.#deps.gas.tooDear(amount);
  }

  sent(transaction: string): Promise<SettledBy | undefined> {
    return this.#deps.transactions.sent(transaction);
  }

  async read(): Promise<string | undefined> {
    const { gas } = this.#deps;
    try {
      return gas.obstacleAt(await gas.read());
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Undefined until the chain was read. */
  gas(): GasHealth | undefined {
    const { asset, gas, transactions } = this.#deps;
    const figures = gas.figures();
    if (!figures) return undefined;
    const { waiting, oldestWaitMs } = transactions;
    const oldest_wait_s = Math.round(oldestWaitMs / 1000);
    return { network: asset.network, ...figures, waiting, oldest_wait_s };
  }

  async verify(payment: Payment, terms: Terms): Promise<Heard<Verification | string>> {
    const fault = this.#fault(payment, terms);
    if (fault !== undefined) return heard({ valid: false, reason: fault });
    const { nodes, transactions, gas } = this.#deps;
    // Checks for obstacles first, before the costly work.
    const obstacle = gas.obstacle() ?? gas.tooDear(terms.amount);
    if (obstacle !== undefined) return { told: obstacle, works: true };
    try {
      const call = await this.#callOf(payment);
      const balance = await this.#onceValid(() =>
        nodes.first(async (node) => {
          const [held] = await Promise.all([
            this.#balance(node, payment),
            node.find('eth_call', [this.#from(call), 'latest']),
          ]);
          return held;
        }),
      );
      const isCovered =
        balance >= payment.value + transactions.committed(payment) + this.#together.committed(payment);
      return heard(isCovered ? { valid: true } : { valid: false, reason: 'insufficient_funds' });
    } catch (error) {
      if (isRevert(error)) return heard({ valid: false, reason: revertReason(error.told) });
      return { told: (error as Error).message, works: false };
    }
  }

  async settle(payment: Payment, terms: Terms, deadlineMs: number): Promise<Heard<Told>> {
    const until = performance.now() + deadlineMs;
    const over = new AbortController();
    const ending = setTimeout(() => over.abort(), deadlineMs);
    try {
      return await this.#settling.run(payment.payer, () => this.#settleUntil(payment, terms, until), {
        signal: over.signal,
        left: () => new Error('it waited too long for a place'),
      });
    } catch (error) {
      const tooDear = error instanceof TooDear;
      const told = { kind: 'not_sent', detail: (error as Error).message, tooDear } as const;
      return { told, works: tooDear };
    } finally {
      clearTimeout(ending);
    }
  }

  /** @throws Error when nothing was sent */
  async #settleUntil(payment: Payment, terms: Terms, until: number): Promise<Heard<Told>> {
    const { told, outcome } = await this.#begin(payment, terms, until);
    if (told) return heard(told);
    const known = await within(outcome, until - performance.now());
    if (known) return heard(known);
    return { told: { kind: 'unknown', detail: 'its transaction is not mined yet' }, works: false };
  }

  /** One beginning at a time for each payment. */
  #begin(payment: Payment, terms: Terms, until: number): Promise<Begun> {
    const key = paymentKey(payment);
    const known = this.#beginning.get(key);
    if (known) return known;
    const beginning = this.#sendOrTell(payment, terms, until).finally(() => this.#beginning.delete(key));
    this.#beginning.set(key, beginning);
    return beginning;
  }

  async #sendOrTell(payment: Payment, terms: Terms, until: number): Promise<Begun> {
    const { transactions, gas } = this.#deps;
    const outcome = transactions.outcomeOf(payment);
    if (outcome) return { outcome };
    const fault = this.#fault(payment, terms);
    if (fault !== undefined) return refused(fault);
    if (transactions.waiting >= STUCK_MAX) throw new Error('too many transactions wait to be mined');
    const head = await gas.recent();
    const obstacle = gas.obstacleAt(head);
    if (obstacle !== undefined) throw new Error(obstacle);
    try {
      const call = await this.#callOf(payment);
      const { units, mayShare } = await this.#onceValid(() => this.#estimate(payment, call));
      if (units > this.#deps.gasMax) return refused('signature_too_costly');
      if (performance.now() >= until) throw new Error('the nodes took too long');
      const feeMax = gas.feeMaxFor(terms.amount, units, head);
      if (head.baseFee + head.tip > feeMax)
        throw new TooDear(gas.tooDear(terms.amount, units, head) ?? 'its gas costs too much');
      const priced = { payment, call, gas: units + units / 4n, units, weiMax: feeMax * units };
      const sent = await this.#together.add(priced, mayShare);
      void sent.outcome.then((outcome) => this.#deps.barred.note(payment, outcome));
      return sent;
    } catch (error) {
      if (!isRevert(error)) throw error;
      return await this.#afterRevert(revertReason(error.told), payment);
    }
  }

  /** A transfer that the chain refuses now: the same authorization may have been settled already, by any sender. */
  async #afterRevert(reason: string, payment: Payment): Promise<Begun> {
    if (!saysUsed(reason)) return refused(reason);
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind === 'unused')
      return { told: { kind: 'unknown', detail: 'one node has it used and another does not' } };
    const proven = provenBy(seen, payment);
    if (!proven)
      return { told: { kind: 'unknown', detail: 'its log does not show what used the authorization' } };
    if (proven.kind !== 'settled') return refused(reason);
    reportAnother(this.#deps.log, payment, proven);
    return { told: proven };
  }

  /**
   * Units of gas, and whether it may share a transaction: a wallet with code may use up the gas of all. What a payer's waiting transactions
   * will move cannot pay for another one. @throws RpcRefusal when it is reverted
   */
  async #estimate(payment: Payment, call: Call): Promise<{ units: bigint; mayShare: boolean }> {
    const { nodes, transactions } = this.#deps;
    const committed = transactions.committed(payment) + this.#together.committed(payment);
    return nodes.first(async (node) => {
      const [units, mayShare] = await Promise.all([
        node.call<Hex>('eth_estimateGas', [this.#from(call), 'latest']).then(BigInt),
        this.#mayShare(node, payment),
      ]);
      if (committed > 0n && (await this.#balance(node, payment)) < payment.value + committed)
        throw new RpcRefusal('', { told: 'transfer amount exceeds balance', code: REVERTED_CODE });
      return { units, mayShare };
    });
  }

  async #mayShare(node: RpcNode, payment: Payment): Promise<boolean> {
    if (this.#deps.togetherMax === 1 || isOfContract(payment)) return false;
    const hasCode = (address: Address) =>
      node.call<Hex>('eth_getCode', [address, 'latest']).then((code) => code !== '0x');
    this.#hasMulticall ??= await hasCode(MULTICALL);
    return this.#hasMulticall && !(await hasCode(payment.payer));
  }

  async #balance(node: RpcNode, { payer }: Payment): Promise<bigint> {
    const data = BALANCE_OF + payer.slice(2).padStart(64, '0');
    return BigInt(await node.call<Hex>('eth_call', [{ to: this.#deps.asset.address, data }, 'latest']));
  }

  /** Asks again while only the chain's clock is behind: its time is that of a block, and `validAfter` is often the client's present. */
  async #onceValid<T>(ask: () => Promise<T>): Promise<T> {
    const until = performance.now() + BEHIND_MS_MAX;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const isEarly = isRevert(error) && revertReason(error.told) === 'authorization_not_yet_valid';
        if (!isEarly || performance.now() >= until) throw error;
        await after(BEHIND_PAUSE_MS);
      }
    }
  }

  /** Call that makes the payment in the chain's present state. @throws Error when no node can be asked */
  async #callOf(payment: Payment): Promise<Call> {
    if (!mayDeploy(payment)) return transferCall(payment);
    const code = await this.#deps.nodes.first((node) =>
      node.call<Hex>('eth_getCode', [payment.payer, 'latest']),
    );
    return transferCall(payment, { deploys: code === '0x' });
  }

  #from(call: Call) {
    return { from: this.#deps.gas.address, ...call };
  }

  /** Why a payment is invalid by itself, in our words; undefined when it is valid. */
  #fault(payment: Payment, { amount }: Terms): PaymentFault | typeof REVERTED | undefined {
    const { asset, payTo, signatures, clock } = this.#deps;
    const now = BigInt(Math.floor(clock.now() / 1000));
    if (payment.asset.network !== asset.network) return 'wrong_network';
    if (payment.asset.address !== asset.address) return 'wrong_asset';
    if (payment.payTo !== payTo) return 'wrong_recipient';
    if (payment.value !== amount) return 'amount_mismatch';
    if (payment.validBefore <= now) return 'authorization_expired';
    if (payment.validAfter > now) return 'authorization_not_yet_valid';
    if (signatures.verdictOn(payment) === 'invalid' || !isReadable(payment)) return 'invalid_signature';
    return this.#deps.barred.has(payment) ? REVERTED : undefined;
  }
}

/** False for an ERC-6492 signature that is none. */
function isReadable(payment: Payment): boolean {
  try {
    return transferCall(payment) !== undefined;
  } catch {
    return false;
  }
}

/** Undefined when it takes longer. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds));
  });
  try {
    return await Promise.race([work, isOver]);
  } finally {
    clearTimeout(timer);
  }
}

function heard<T>(told: T): Heard<T> {
  return { told, works: true };
}

function refused(reason: string): Begun {
  return { told: { kind: 'refused', reason } };
}
