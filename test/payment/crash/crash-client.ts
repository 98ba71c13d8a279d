import { setTimeout as after } from 'node:timers/promises';
import { prepaidOn } from '../../../src/payment/asset.ts';
import type { Random } from '../../rig/random.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { addressOf, sign, v1Header, v2Header, wallet } from '../rig/payments.ts';

/** One thing that a client wants and pays for, and everything that came of it. */
export interface Purchase {
  readonly kind: 'ingest' | 'search' | 'workspace' | 'extend' | 'prepay';
  readonly keyed: boolean;
  readonly amount: bigint;
  /** Nonces of every authorization signed for it. */
  readonly nonces: string[];
  /** Those of them that the server called expired, and so unused. */
  readonly expired: string[];
  answer?: { readonly charged: boolean; readonly identity: string };
}

const PREPAID = prepaidOn('eip155:8453');

export interface Going {
  readonly url: string;
  readonly stopped: boolean;
}

/** Kinds of a client's next purchase, beside extending the workspace that it has. */
const KINDS = ['search', 'search', 'workspace', 'workspace', 'workspace'] as const;
const MINUTE = 500n;
const PREPAID_USD = 90;
const PRICES = {
  ingest: 30_000n,
  search: 6000n,
  workspace: 10_000n + 60n * MINUTE,
  extend: 10n * MINUTE,
  prepay: BigInt(PREPAID_USD) * 1_000_000n,
};
const PAUSE_MS = 20;
/** A server that does not listen is being started again. */
const ABSENT_PAUSE_MS = 100;
/** How long an answer may take once nobody kills the server any more: on a starved machine a start alone takes a minute. */
const PATIENCE_MS = 240_000;
/** Longer than the process that opens uploads may take to start: a client that left earlier would only begin anew. */
const ANSWER_DEADLINE_MS = 90_000;
/** Validity that the 402 asks for. A purchase that outlives it signs anew, as real clients do. */
const VALID_SECONDS = 280;
/** How long a job may take once the server runs on. */
const ENDED_MS_MAX = 120_000;
const OUTCOMES_TOLD = 12;
/** Nothing was charged, and another time it may be done. */
const REFUSED = [503, 507];

/** A job as its state is shown. */
interface ShownJob {
  readonly state?: string;
  readonly error?: { readonly code: string };
}

/** A paying client that never gives up: it sends the same request until it has its answer, over every crash of the server. */
export class CrashClient {
  readonly purchases: Purchase[] = [];
  readonly faults: string[] = [];
  readonly #account = wallet();
  readonly #random: Random;
  readonly #going: Going;
  readonly #onAnswer: () => void;
  readonly #losesDisk: boolean;
  readonly #prepays: boolean;
  #hasPrepaid = false;
  readonly #uploaded: { readonly what: string; readonly item: string }[] = [];
  #workspace: string | undefined;
  #serial = 0;

  /**
   * `losesDisk`: each kill of the server takes its whole disk, or what was not synced of it. The client also pays for uploads then, which outlast most lives of the server: for
   * as long it buys nothing else. `prepays`: it pays in advance, and half of what it buys by that.
   */
  constructor(
    random: Random,
    going: Going,
    { losesDisk, prepays }: { readonly losesDisk: boolean; readonly prepays: boolean },
    onAnswer: () => void,
  ) {
    this.#random = random;
    this.#going = going;
    this.#losesDisk = losesDisk;
    this.#prepays = prepays;
    this.#onAnswer = onAnswer;
  }

  /** Address of its wallet. */
  get address(): `0x${string}` {
    return this.#account.address;
  }

  /** Buys until the run is stopped; then ends what it began. */
  async run(): Promise<void> {
    if (this.#prepays) {
      await this.#buy('prepay');
      this.#hasPrepaid = this.purchases[0]?.answer !== undefined;
    }
    await this.#buy('workspace');
    while (!this.#going.stopped) {
      const kinds = [
        ...KINDS,
        ...(this.#losesDisk ? ['ingest'] : []),
        ...(this.#workspace ? ['extend', 'extend'] : []),
      ];
      await this.#buy(this.#random.pick(kinds) as Purchase['kind']);
    }
  }

  /**
   * Looks for each upload that was answered, by its content, once its job has ended. A job that was killed at each of its starts may have
   * been given up: its payer has a credit then.
   */
  async findUploads(): Promise<{ readonly found: number; readonly givenUp: readonly string[] }> {
    let found = 0;
    const givenUp: string[] = [];
    for (const { what, item } of this.#uploaded) {
      const job = item.replace('item_', 'job_');
      const { state, error } = await this.#ended(job);
      if (state === 'failed' && error?.code === 'interrupted') givenUp.push(job);
      else if (state === 'searchable' && (await this.#finds(what, item))) found += 1;
      else this.faults.push(`the upload ${what} (${item}) was answered and is not found: ${state}`);
    }
    return { found, givenUp };
  }

  async #ended(job: string): Promise<ShownJob> {
    const givingUp = Date.now() + ENDED_MS_MAX;
    for (;;) {
      const { status, shown } = await this.#stateOf(job);
      const hasEnded = shown.state === 'failed' || shown.state === 'searchable';
      if (hasEnded || (status !== 200 && status !== 503) || Date.now() > givingUp) return shown;
      await after(ABSENT_PAUSE_MS);
    }
  }

  /** A server that has lost its lease may be starting again: nothing is known of the job then, as behind a 503. */
  async #stateOf(job: string): Promise<{ readonly status: number; readonly shown: ShownJob }> {
    try {
      const response = await fetch(`${this.#going.url}/agent/v1/jobs/${job}`);
      return { status: response.status, shown: (await response.json()) as ShownJob };
    } catch {
      return { status: 503, shown: {} };
    }
  }

  async #finds(what: string, item: string): Promise<boolean> {
    const purchase: Purchase = {
      kind: 'search',
      keyed: false,
      amount: PRICES.search,
      nonces: [],
      expired: [],
    };
    this.purchases.push(purchase);
    const body = JSON.stringify({ query: `"lighthouse ${what}"` });
    const answer = await this.#insist(purchase, { path: '/agent/v1/search', body }, undefined);
    if (!answer) return false;
    purchase.answer = { charged: answer.charged === true, identity: identityOf('search', answer) };
    return (answer.hits as readonly { readonly item: { readonly id: string } }[]).some(
      (hit) => hit.item.id === item,
    );
  }

  async #buy(kind: Purchase['kind']): Promise<void> {
    this.#serial += 1;
    const what = `${addressOf(this.#account).slice(2, 10)} ${this.#serial}`;
    const request = {
      ingest: { path: '/agent/v1/ingest', body: `The keeper of lighthouse ${what} counts gulls.` },
      search: { path: '/agent/v1/search', body: JSON.stringify({ query: `lighthouse ${what}` }) },
      workspace: {
        path: `/agent/v1/workspaces?serial=${this.#serial}`,
        body: JSON.stringify({ ttl_minutes: 60 }),
      },
      extend: {
        path: `/agent/v1/workspaces/${this.#workspace}/extend?serial=${this.#serial}`,
        body: JSON.stringify({ ttl_minutes: 10 }),
      },
      prepay: { path: '/agent/v1/prepaid', body: JSON.stringify({ usd: PREPAID_USD }) },
    }[kind];
    const key = this.#random.hits(0.5) ? `crash-client-key ${what}`.padEnd(24, '.') : undefined;
    const purchase: Purchase = {
      kind,
      keyed: key !== undefined,
      amount: PRICES[kind],
      nonces: [],
      expired: [],
    };
    this.purchases.push(purchase);
    const answer = await this.#insist(purchase, request, key);
    if (!answer) return;
    purchase.answer = { charged: answer.charged === true, identity: identityOf(kind, answer) };
    if (kind === 'workspace') this.#workspace = String(answer.id);
    if (kind === 'ingest') this.#uploaded.push({ what, item: purchase.answer.identity });
    this.#onAnswer();
    if (key === undefined || !purchase.answer.charged || !this.#random.hits(0.2)) return;
    const again = await this.#insist(purchase, request, key);
    // Stored answers are lost with the disk: a search is worked out anew, uncharged.
    if (kind === 'search' && this.#losesDisk) return;
    if (again && identityOf(kind, again) !== purchase.answer.identity)
      this.faults.push(`${kind} ${what}: the same key was given another answer`);
  }

  /** Sends it until it is answered; whether the payment is the same or a fresh one changes as real clients' do. */
  async #insist(
    purchase: Purchase,
    { path, body }: { path: string; body: string },
    key: string | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    const outcomes: string[] = [];
    let stoppedAt: number | undefined;
    let payment = await this.#pay(purchase);
    while (stoppedAt === undefined || Date.now() - stoppedAt < PATIENCE_MS) {
      const headers = { ...payment, ...(key !== undefined && { 'Idempotency-Key': key }) };
      const response = await this.#send(this.#going.url + path, { method: 'POST', body, headers });
      outcomes.push(outcomeOf(response));
      if (response && response.status >= 200 && response.status < 300) return response.answer;
      const expired = response?.answer.error === 'authorization_expired';
      const used = response?.answer.error === 'authorization_already_used';
      const absent = response?.status === 0;
      if (expired) purchase.expired.push(purchase.nonces.at(-1)!);
      else if (response && !absent && !used && !REFUSED.includes(response.status)) {
        this.faults.push(`${purchase.kind} was answered ${outcomes.slice(-OUTCOMES_TOLD).join(' · ')}`);
        return undefined;
      }
      if (used || expired || (!absent && this.#random.hits(0.5))) payment = await this.#pay(purchase);
      await after(absent ? ABSENT_PAUSE_MS : PAUSE_MS);
      if (this.#going.stopped) stoppedAt ??= Date.now();
    }
    const last = outcomes.slice(-OUTCOMES_TOLD).join(' · ');
    this.faults.push(
      `${purchase.kind} had no answer within ${PATIENCE_MS} ms, after ${outcomes.length} requests: ${last}`,
    );
    return undefined;
  }

  async #pay(purchase: Purchase): Promise<Record<string, string>> {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + VALID_SECONDS);
    const isPrepaid = this.#hasPrepaid && this.#random.hits(0.5);
    const payload = await sign(this.#account, {
      value: purchase.amount,
      validBefore,
      ...(isPrepaid && { domain: tokenDomain(PREPAID) }),
    });
    purchase.nonces.push(payload.authorization.nonce);
    return this.#random.hits(0.5)
      ? { 'X-PAYMENT': v1Header(payload) }
      : { 'PAYMENT-SIGNATURE': v2Header(payload, isPrepaid ? { accepted: { asset: PREPAID.address } } : {}) };
  }

  /** Undefined when the connection was lost before the whole answer was here; status 0 when there was none. */
  async #send(
    url: string,
    init: RequestInit,
  ): Promise<{ status: number; answer: Record<string, unknown> } | undefined> {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_DEADLINE_MS) });
      return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
      return code === 'ECONNREFUSED' ? { status: 0, answer: {} } : undefined;
    }
  }
}

/** One request's outcome in a few words, for the report of a fault. */
function outcomeOf(response: { status: number; answer: Record<string, unknown> } | undefined): string {
  if (!response) return 'connection lost';
  if (response.status === 0) return 'not there';
  if (response.status < 300) return String(response.status);
  const { code, error, detail } = response.answer;
  return `${response.status} ${code ?? error ?? ''}${response.status < 500 ? '' : ` ${detail ?? ''}`}`.slice(
    0,
    200,
  );
}

/** The part of an answer that must be the same when it is given again. */
function identityOf(kind: Purchase['kind'], answer: Record<string, unknown>): string {
  if (kind === 'search') return JSON.stringify(answer.hits);
  if (kind === 'ingest') return String((answer.item as { id?: string } | undefined)?.id);
  return String(kind === 'prepay' ? answer.added_usd : answer.id);
}
