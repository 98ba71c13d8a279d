import type { Address } from '@farthing/protocol/address';
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { escrowOn } from '../asset.ts';
import { type Channel, type ChannelState, type Operation, REASON } from '../channel/channels.ts';
import { type ChannelConfig, type ChannelTerms, DEPOSIT_COLLECTOR } from '../channel/voucher.ts';
import { provenBy } from '../facilitator/chain-witness.ts';
import type { Told } from '../facilitator/settler.ts';
import type { Hex, Payment } from '../payment.ts';
import { isRevert } from './nodes.ts';
import { type Outcome, REVERTED } from './outcome.ts';
import { type SelfSettlerDeps, within } from './self-settler.ts';
import { TooDear } from './together.ts';
import { type Call, revertReason } from './transfer-call.ts';

/** The functions of x402's escrow that this server calls (`@x402/evm`, `batchSettlementABI`). */
const ABI = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'function claim(VoucherClaim[] voucherClaims)',
  'function settle(address receiver, address token)',
  'function refundWithSignature(ChannelConfig config, uint128 amount, uint256 nonce, bytes receiverAuthorizerSignature)',
  'function multicall(bytes[] data) returns (bytes[] results)',
  'function channels(bytes32 channelId) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32 channelId) view returns (uint128 amount, uint40 initiatedAt)',
  'function refundNonce(bytes32 channelId) view returns (uint256)',
]);
const REFUND_TYPES = {
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
} as const;

/** Seconds in which the payee can still claim after a payer announces that it takes its money back. */
const WITHDRAW_DELAY_S = 86_400;
/** Gas of a deposit: measured, 157,700 for the first of a channel. */
const GAS_OF_DEPOSIT = 160_000n;
const STUCK_MAX = 256;
const WORD_DIGITS = 64;
/** Operations are good until they are done: what they do twice has no effect. */
const FOR_EVER = 1n << 52n;

type Shared =
  | 'asset'
  | 'payTo'
  | 'signatures'
  | 'nodes'
  | 'witness'
  | 'gas'
  | 'transactions'
  | 'barred'
  | 'gasMax';

/** `asset`: the coin, as it is outside the escrow. `gasMax`: units of gas that a deposit may take. */
export interface EscrowDeps extends Pick<SelfSettlerDeps, Shared> {
  /** Pays the gas, and is the `receiverAuthorizer` of every channel. */
  readonly wallet: PrivateKeyAccount;
}

/** The escrow contract of x402's `batch-settlement` on one chain, for this server's side of channels. */
export class Escrow {
  readonly address: Address;
  readonly #deps: EscrowDeps;
  #isThere = false;
  /** The last look for the contract found no node. */
  #isUnread = false;

  constructor(deps: EscrowDeps) {
    this.#deps = deps;
    this.address = escrowOn(deps.asset.network).address;
  }

  get payTo(): Address {
    return this.#deps.payTo;
  }

  /** Undefined until the chain is known to have the contract. Looks again in the background where no node could be asked. */
  get terms(): ChannelTerms | undefined {
    if (this.#isUnread) this.connect().catch(() => undefined);
    const receiverAuthorizer = this.#deps.wallet.address.toLowerCase() as Address;
    return this.#isThere ? { receiverAuthorizer, withdrawDelay: WITHDRAW_DELAY_S } : undefined;
  }

  /** Looks for the contract. @throws Error when no node can be asked */
  async connect(): Promise<void> {
    if (this.#isThere) return;
    this.#isUnread = false;
    const hasCode = async (address: Address) =>
      (await this.#deps.nodes.first((node) => node.call<Hex>('eth_getCode', [address, 'latest']))) !== '0x';
    try {
      this.#isThere = (await hasCode(this.address)) && (await hasCode(DEPOSIT_COLLECTOR));
    } catch (error) {
      this.#isUnread = true;
      throw error;
    }
  }

  /** @throws Error when no node can be asked */
  async read(id: Hex): Promise<ChannelState> {
    return this.#deps.nodes.first(async (node) => {
      const words = async (functionName: 'channels' | 'pendingWithdrawals' | 'refundNonce') => {
        const data = encodeFunctionData({ abi: ABI, functionName, args: [id] });
        const told = await node.call<Hex>('eth_call', [{ to: this.address, data }, 'latest']);
        return [0, 1].map((at) =>
          BigInt(`0x${told.slice(2 + at * WORD_DIGITS).slice(0, WORD_DIGITS) || '0'}`),
        );
      };
      const [[balance, claimed], [, withdrawAt], [refundNonce]] = await Promise.all([
        words('channels'),
        words('pendingWithdrawals'),
        words('refundNonce'),
      ]);
      return {
        balance: balance!,
        claimed: claimed!,
        withdrawAt: Number(withdrawAt),
        refundNonce: refundNonce!,
      };
    });
  }

  /**
   * Why a deposit cannot be made; undefined where it can, by a simulation. Its gas, and what the channel has cost before, may take the part
   * of the channel's money that a settlement's may of a price. @throws Error when the chain cannot be asked
   */
  async depositFault(payment: Payment, channel: Channel): Promise<string | undefined> {
    const { gas, nodes } = this.#deps;
    const obstacle = gas.obstacle();
    if (obstacle !== undefined) throw new Error(obstacle);
    if (this.#deps.barred.has(payment)) return REVERTED;
    const head = await gas.recent();
    const budget = this.#budgetOf(payment, channel);
    if (gas.tooDear(budget, GAS_OF_DEPOSIT, head) !== undefined) return `${REASON}deposit_below_min_deposit`;
    const call = this.#depositCall(payment);
    try {
      await nodes.first((node) => node.find('eth_call', [{ from: gas.address, ...call }, 'latest']));
      return undefined;
    } catch (error) {
      if (!isRevert(error)) throw error;
      return depositRevert(error.told);
    }
  }

  /** Moves the deposit into the escrow, once, however often it is called. @throws Error when nothing was sent */
  async deposit(payment: Payment, channel: Channel, deadlineMs: number): Promise<Told> {
    const moved = this.#moved(payment);
    const underway = this.#deps.transactions.outcomeOf(moved);
    const known = async (outcome: Promise<Outcome>): Promise<Told> =>
      (await within(outcome, deadlineMs)) ?? { kind: 'unknown', detail: 'its transaction is not mined yet' };
    if (underway) return known(underway);
    const seen = await this.#deps.witness.look(moved);
    const proven = provenBy(seen, moved);
    if (proven?.kind === 'absent') return { kind: 'refused', reason: 'authorization_expired' };
    if (proven) return proven;
    if (seen.kind !== 'unused')
      return { kind: 'unknown', detail: 'its log does not show what used the authorization' };
    try {
      const gasMax = this.#budgetOf(payment, channel);
      const unitsMax = this.#deps.gasMax;
      const sent = await this.#send(moved, this.#depositCall(payment), { gasMax, unitsMax });
      void sent.outcome.then((outcome) => this.#deps.barred.note(payment, outcome));
      return await known(sent.outcome);
    } catch (error) {
      if (!isRevert(error)) throw error;
      return { kind: 'refused', reason: depositRevert(error.told) };
    }
  }

  /**
   * Sends claims, the settlement of all claims, and a refund, as one transaction. `gasMax`: units of the coin that its gas may cost now;
   * once it is sent, it may cost `worth`: others wait for it.
   * @returns its outcome, once it is written down @throws TooDear, Error: nothing was sent
   */
  async operate(
    operation: Operation,
    channels: ReadonlyMap<Hex, Channel>,
    { gasMax, worth }: { readonly gasMax: bigint; readonly worth: bigint },
  ): Promise<{ readonly outcome: Promise<Outcome> }> {
    const { asset, payTo } = this.#deps;
    const { claims, refund } = operation;
    const claim = claims.map(({ id, charged }) => {
      const { config, total, signature } = channels.get(id)!;
      return { voucher: { channel: config, maxClaimableAmount: total }, signature, totalClaimed: charged };
    });
    const settle = { abi: ABI, functionName: 'settle', args: [payTo, asset.address] } as const;
    const data =
      claim.length === 0
        ? []
        : [
            encodeFunctionData({ abi: ABI, functionName: 'claim', args: [claim] }),
            encodeFunctionData(settle),
          ];
    if (refund) data.push(await this.#refundData(refund, channels.get(refund.id)!.config));
    const call = {
      to: this.address,
      data: encodeFunctionData({ abi: ABI, functionName: 'multicall', args: [data] }),
    };
    return this.#send(this.#pseudoPayment(operation), call, { gasMax, worth, share: 100 });
  }

  /** Of an operation that was sent before, also by an earlier process; undefined where its transaction is not known any more. */
  outcomeOf(operation: Operation): Promise<Outcome> | undefined {
    return this.#deps.transactions.outcomeOf(this.#pseudoPayment(operation));
  }

  /** Units of the coin that gas may cost of what is claimed. */
  shareOf(amount: bigint): bigint {
    return (amount * BigInt(this.#deps.gas.shareMax)) / 100n;
  }

  /** @param share percent of either that gas may cost @throws RpcRefusal when it would be reverted, TooDear, Error */
  async #send(
    payment: Payment,
    call: Call,
    {
      gasMax,
      worth = gasMax,
      share,
      unitsMax,
    }: { gasMax: bigint; worth?: bigint; share?: number; unitsMax?: bigint },
  ): Promise<{ readonly outcome: Promise<Outcome> }> {
    const { transactions, gas, nodes } = this.#deps;
    const underway = transactions.outcomeOf(payment);
    if (underway) return { outcome: underway };
    if (transactions.waiting >= STUCK_MAX) throw new Error('too many transactions wait to be mined');
    const head = await gas.read();
    const obstacle = gas.obstacleAt(head);
    if (obstacle !== undefined) throw new Error(obstacle);
    const from = { from: gas.address, ...call };
    const units = BigInt(await nodes.first((node) => node.call<Hex>('eth_estimateGas', [from, 'latest'])));
    if (unitsMax !== undefined && units > unitsMax) throw new TooDear('it takes too much gas');
    const isDear = head.baseFee + head.tip > gas.feeMaxFor(gasMax, units, head, share);
    const feeMax = gas.feeMaxFor(worth, units, head, share);
    const fees = isDear ? undefined : gas.fees(head, feeMax);
    if (!fees) throw new TooDear('its gas costs too much');
    const [outcome] = await transactions.send([{ payment, call, gas: units + units / 4n }], {
      fees,
      feeMax,
      head,
    });
    return { outcome: outcome! };
  }

  /** Of the channel's money, less what its gas has taken so far. */
  #budgetOf({ value, voucher }: Payment, { charged, gas }: Channel): bigint {
    const budget =
      charged + value + voucher!.deposit!.amount - (gas * 100n) / BigInt(this.#deps.gas.shareMax);
    return budget > 0n ? budget : 0n;
  }

  /** The transfer that a deposit makes, as the coin has it. */
  #moved({ payer, validAfter, validBefore, voucher }: Payment): Payment {
    const { asset, signatures } = this.#deps;
    const { amount: value, signature } = voucher!.deposit!;
    const nonce = signatures.depositNonce(voucher!);
    return {
      ...this.#payment(nonce),
      asset,
      payer,
      payTo: DEPOSIT_COLLECTOR,
      value,
      validAfter,
      validBefore,
      signature,
    };
  }

  /** Stands for an operation among the transactions: it moves nothing of anybody's wallet. */
  #pseudoPayment({ id }: Operation): Payment {
    return this.#payment(id);
  }

  #payment(nonce: Hex): Payment {
    const { asset, payTo } = this.#deps;
    return {
      version: 2,
      scheme: 'batch-settlement',
      networkName: asset.network,
      asset,
      payer: this.address,
      payTo,
      value: 0n,
      validAfter: 0n,
      validBefore: FOR_EVER,
      nonce,
      signature: '0x',
    };
  }

  #depositCall({ validAfter, validBefore, voucher }: Payment): Call {
    const { config, deposit } = voucher!;
    const { amount, salt, signature } = deposit!;
    const collectorData = encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
      [validAfter, validBefore, BigInt(salt), signature],
    );
    const args = [config, amount, DEPOSIT_COLLECTOR, collectorData] as const;
    return { to: this.address, data: encodeFunctionData({ abi: ABI, functionName: 'deposit', args }) };
  }

  async #refundData(
    { id, amount, nonce }: NonNullable<Operation['refund']>,
    config: ChannelConfig,
  ): Promise<Hex> {
    const { wallet, asset } = this.#deps;
    const { name, version } = escrowOn(asset.network);
    const signature = await wallet.signTypedData({
      domain: { name, version, chainId: asset.chainId, verifyingContract: this.address },
      types: REFUND_TYPES,
      primaryType: 'Refund',
      message: { channelId: id, nonce, amount },
    });
    return encodeFunctionData({
      abi: ABI,
      functionName: 'refundWithSignature',
      args: [config, amount, nonce, signature],
    });
  }
}

/** In the words of x402 where the coin's are none that we know. */
function depositRevert(told: string): string {
  const reason = revertReason(told);
  return reason.startsWith('invalid_exact') ? `${REASON}deposit_simulation_failed` : reason;
}
