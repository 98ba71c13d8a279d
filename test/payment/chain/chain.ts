import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type Abi,
  concat,
  createTestClient,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  maxUint256,
  pad,
  parseAbi,
  publicActions,
  toHex,
  walletActions,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { type Asset, BASE_USDC, escrowOn } from '../../../src/payment/asset.ts';
import { DEPOSIT_COLLECTOR } from '../../../src/payment/channel/voucher.ts';
import { BARE_ENVIRONMENT } from '../../rig/environment.ts';
import type { Teardown } from '../../rig/temporary-folder.ts';
import { transactionReceipt } from './transaction-receipt.ts';

/**
 * A real EVM chain of its own process on loopback, with the id of the coin's network. At USDC's address is Circle's own code
 * (FiatToken 2.2 behind its proxy), and Multicall3 is where it is on every chain.
 */

const [TOKEN, PROXY] = [readContract('FiatTokenV2_2'), readContract('FiatTokenProxy')];
const SIGNATURE_CHECKER = readContract('SignatureChecker');
const WALLET = readContract('ContractWallet');
const FACTORY = readContract('WalletFactory');
const MULTICALL = readContract('Multicall3');
const [ESCROW, COLLECTOR] = [readContract('Escrow'), readContract('Collector')];
/** Where Multicall3 lies on every chain (github.com/mds1/multicall3). */
const MULTICALL_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11';
const FACTORY_ABI = parseAbi(['function deploy(address owner) returns (address)']);
const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner)',
  'function initializeV2(string name)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] toBlacklist, string symbol)',
  'function configureMinter(address minter, uint256 allowance)',
]);
/** Where FiatTokenProxy has the address of its code, and of who may change it: keccak256 of `org.zeppelinos.proxy.` and the name. */
const PROXY_SLOTS = {
  implementation: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
  admin: '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b',
} as const;
/** FiatToken's `balanceAndBlacklistStates`. */
const BALANCES_SLOT = '0x09';
/** Place of a library's address in code that is not linked yet. */
const UNLINKED = /__\$[0-9a-f]{34}\$__/g;

/** Its own functions beside those of `batchSettlementABI`. */
export const ESCROW_ABI = ESCROW.abi!;

function readContract(name: string): { readonly bytecode: Hex; readonly abi?: Abi } {
  return JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8'));
}

/** Why there is no chain on this machine; undefined when there can be one. */
export const noChain: string | undefined = anvilPath()
  ? undefined
  : 'the binary of @foundry-rs/anvil is not installed for this platform';

function anvilPath(): string | undefined {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@foundry-rs/anvil-${process.platform}-${architecture}/package.json`,
    );
    const path = join(dirname(manifest), 'bin', 'anvil');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

export interface Chain {
  readonly url: string;
  /** Anvil's own calls. */
  readonly control: Control;
  /** Makes a wallet with ETH and nothing else. @returns its private key */
  gasKey(wei?: bigint): Promise<Hex>;
  mint(to: string, value: bigint): Promise<void>;
  balance(of: string): Promise<bigint>;
  /** Sets what a wallet has, as if it had spent or received the rest. */
  setBalance(of: string, value: bigint): Promise<void>;
  /** Transactions that are sent and in no block. */
  pooled(): Promise<number>;
  /** Whether the authorization was used, as the token contract says. */
  isUsed(authorizer: string, nonce: string): Promise<boolean>;
  /** The input of a transaction: what everybody can read of a settled payment. */
  inputOf(transaction: string): Promise<`0x${string}`>;
  /** Deploys a contract wallet (ERC-1271). @returns its address */
  deployWallet(owner: `0x${string}`): Promise<`0x${string}`>;
  /** Deploys a factory of contract wallets that exist once somebody deploys them (ERC-6492). */
  deployFactory(): Promise<WalletFactory>;
  isDeployed(address: string): Promise<boolean>;
  /** Lays the escrow of `batch-settlement`, and what takes its deposits, where they are on every chain. @returns its address */
  deployEscrow(): Promise<Hex>;
  /** Sends the call as a stranger, and waits until it is in a block. */
  send(data: `0x${string}`): Promise<`0x${string}`>;
  /** `factories`: those whose wallets the facilitator deploys when they first pay. */
  facilitator(factories?: readonly Hex[]): Promise<ChainFacilitator>;
}

/** The parts of viem's test client that tests of transactions need. */
export type Control = Pick<
  ReturnType<typeof controlOf>,
  | 'dropTransaction'
  | 'getBalance'
  | 'getTransactionCount'
  | 'getTransactionReceipt'
  | 'getTxpoolStatus'
  | 'mine'
  | 'request'
  | 'sendRawTransaction'
  | 'sendTransaction'
  | 'setAutomine'
  | 'setBalance'
  | 'setCode'
  | 'setIntervalMining'
  | 'setNextBlockBaseFeePerGas'
>;

function controlOf(url: string, { chainId: id }: Asset) {
  const chain = { ...base, id, contracts: {} };
  return createTestClient({ mode: 'anvil', chain, transport: http(url), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
}

export interface WalletFactory {
  readonly address: Hex;
  /** Where the owner's wallet is or will be. */
  walletOf(owner: Hex): Hex;
  /** The call that deploys it. */
  deployment(owner: Hex): Hex;
}

export interface ChainFacilitator {
  readonly url: string;
  behave(settle: 'none' | 'drops_after' | 'refuses_after' | 'never'): Promise<void>;
  /** Ends its process at once; what it has sent to the chain stays there. */
  kill(): Promise<void>;
}

/** Base's fee, in wei. */
const BASE_FEE = '5000000';
/** Of the test's own transactions: tips as Base has them. */
const FEES = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1_000_000n };
/** Dollars of the network's coin where nothing else is said, as the feed on the chain tells them. */
const COIN_USD = 3000;

/** Code that answers every call as Chainlink's feeds do, with a price written now or `at` (seconds since the epoch). */
export function feedOf(usd: number, at?: number): Hex {
  const word = (value: number) => `7f${BigInt(value).toString(16).padStart(64, '0')}`;
  const time = at === undefined ? '42' : word(at);
  const words = [word(1), word(Math.round(usd * 1e8)), time, time, word(1)];
  const stored = words.map((value, index) => `${value}60${(index * 32).toString(16).padStart(2, '0')}52`);
  return `0x${stored.join('')}60a06000f3`;
}

export async function startChain(t: Teardown, asset: Asset = BASE_USDC): Promise<Chain> {
  const words = ['--port', '0', '--chain-id', String(asset.chainId), '--accounts', '1'];
  const child = spawn(anvilPath()!, [...words, '--block-base-fee-per-gas', BASE_FEE], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWith(t, child);
  const port = await firstMatch(child, /Listening on 127\.0\.0\.1:(\d+)/);
  const url = `http://127.0.0.1:${port}`;
  const client = controlOf(url, asset);
  const [stranger] = await client.getAddresses();
  const { address } = asset;
  const included = async (hash: `0x${string}`) => {
    const { status } = await transactionReceipt(client, hash);
    if (status !== 'success') throw new Error(`transaction ${hash} was reverted`);
  };
  const deploy = async (data: Hex) => {
    const hash = await client.sendTransaction({ account: stranger!, data, ...FEES });
    return (await transactionReceipt(client, hash)).contractAddress!;
  };
  const put = async (bytecode: Hex, at: Hex) => {
    const code = await client.getCode({ address: await deploy(bytecode) });
    await client.setCode({ address: at, bytecode: code! });
  };
  const library = await deploy(SIGNATURE_CHECKER.bytecode);
  const token = await deploy(TOKEN.bytecode.replace(UNLINKED, library.slice(2)) as Hex);
  await put(concat([PROXY.bytecode, pad(token)]), address);
  await client.setStorageAt({ address, index: PROXY_SLOTS.implementation, value: pad(token) });
  // A proxy without an administrator takes the zero address for it, from which nodes make calls.
  await client.setStorageAt({ address, index: PROXY_SLOTS.admin, value: pad(library) });
  const role = stranger!;
  for (const [functionName, args] of [
    ['initialize', [asset.name, 'USDC', 'USD', asset.decimals, role, role, role, role]],
    ['initializeV2', [asset.name]],
    ['initializeV2_1', [role]],
    ['initializeV2_2', [[], 'USDC']],
    ['configureMinter', [role, maxUint256]],
  ] as const)
    await included(
      await client.sendTransaction({
        account: role,
        ...FEES,
        to: address,
        data: encodeFunctionData({ abi: ABI, functionName, args } as EncodeFunctionDataParameters),
      }),
    );
  await put(MULTICALL.bytecode, MULTICALL_ADDRESS);
  const { usdFeed, usdBounds } = asset.gas;
  const usd = Math.min(COIN_USD, usdBounds[1] / 2);
  if (usdFeed) await client.setCode({ address: usdFeed, bytecode: feedOf(usd) });
  const gasKey = async (wei = 10n ** 18n) => {
    const key = generatePrivateKey();
    await client.setBalance({ address: privateKeyToAccount(key).address, value: wei });
    return key;
  };
  return {
    url,
    control: client,
    gasKey,
    mint: async (to, value) =>
      included(
        await client.writeContract({
          account: stranger!,
          ...FEES,
          address,
          abi: ABI,
          functionName: 'mint',
          args: [to as `0x${string}`, value],
        }),
      ),
    balance: (of) =>
      client.readContract({ address, abi: ABI, functionName: 'balanceOf', args: [of as `0x${string}`] }),
    setBalance: async (of, value) => {
      const index = keccak256(concat([pad(of as Hex), pad(BALANCES_SLOT)]));
      await client.setStorageAt({ address, index, value: pad(toHex(value)) });
    },
    pooled: async () => {
      const status = await client.request({ method: 'txpool_status' as never });
      return Number((status as { pending: Hex }).pending);
    },
    isUsed: (authorizer, nonce) =>
      client.readContract({
        address,
        abi: ABI,
        functionName: 'authorizationState',
        args: [authorizer as `0x${string}`, nonce as `0x${string}`],
      }),
    inputOf: async (transaction) =>
      (await client.getTransaction({ hash: transaction as `0x${string}` })).input,
    deployWallet: (owner) => deploy(concat([WALLET.bytecode, pad(owner)])),
    deployFactory: async () => {
      const factory = await deploy(FACTORY.bytecode);
      return {
        address: factory,
        walletOf: (owner) =>
          getCreate2Address({
            from: factory,
            salt: zeroHash,
            bytecode: concat([WALLET.bytecode, pad(owner)]),
          }),
        deployment: (owner) =>
          encodeFunctionData({ abi: FACTORY_ABI, functionName: 'deploy', args: [owner] }),
      };
    },
    deployEscrow: async () => {
      const at = escrowOn(asset.network).address;
      await put(ESCROW.bytecode, at);
      await put(concat([COLLECTOR.bytecode, pad(at)]), DEPOSIT_COLLECTOR);
      return at;
    },
    isDeployed: async (wallet) => (await client.getCode({ address: wallet as Hex })) !== undefined,
    send: async (data) => {
      const hash = await client.sendTransaction({ account: stranger!, to: address, data, ...FEES });
      await included(hash);
      return hash;
    },
    facilitator: async (factories = []) => {
      return startFacilitator(t, {
        RPC_URL: url,
        PRIVATE_KEY: await gasKey(),
        WALLET_FACTORIES: factories.join(','),
        NETWORK: asset.network,
      });
    },
  };
}

async function startFacilitator(
  t: Teardown,
  settings: Readonly<Record<string, string>>,
): Promise<ChainFacilitator> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'facilitator-process.ts')], {
    env: { ...BARE_ENVIRONMENT, ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const kill = endWith(t, child);
  const url = await firstMatch(child, /"url":"([^"]+)"/);
  return {
    url,
    kill,
    behave: async (settle) => {
      await fetch(`${url}/behave`, { method: 'POST', body: JSON.stringify({ settle }) });
    },
  };
}

/** Has the process end with the test. @returns to end it before */
function endWith(t: Teardown, child: ChildProcess): () => Promise<void> {
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const end = async () => {
    process.off('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    kill();
    await ended;
  };
  t.teardown(end);
  return end;
}

/** The first group of the first line of its output that fits. @throws when it ends before. */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`${child.spawnfile} ended with ${code} before it was ready`)),
    );
    createInterface(child.stdout!).on('line', (line) => {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}
