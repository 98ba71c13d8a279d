import t from 'tap';
import { MINUTE_MS } from '../../../src/protocol/clock.ts';
import { errorCode } from '../../../src/protocol/error.ts';
import { formatUsd } from '../../../src/protocol/money.ts';
import { verifyReceipt } from '../../../src/server/workspace/disposal/receipt.ts';
import { newToken } from '../../../src/server/workspace/records/token.ts';
import { digestOfItems } from '../../../src/server/workspace/tenant/inventory.ts';
import { clampMinutes, creationPrice } from '../../../src/server/workspace/workspace.ts';
import { deep } from '../../rig/deep.ts';
import { Random } from '../../rig/random.ts';
import { Model, type ModelStep, type ModelWorkspace, REPEAT_MS, RETENTION_MS } from './model.ts';
import { Crash, openWorld, PAYER, PRICING, type World } from './world.ts';

const STEPS = Number(process.env.WORKSPACE_MODEL_STEPS ?? deep(300, 1000));
const SEED = Number(process.env.WORKSPACE_MODEL_SEED ?? Date.now() % 2 ** 31);

/** Workspaces that each step checks. Older ended ones are dropped. */
const TRACKED_MAX = 40;

/** In milliseconds. Generous, because a step writes to the disk several times. */
t.setTimeout(30_000 + STEPS * 100);

class Difference extends Error {}

function same(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Difference(`${what}: ${String(actual)} instead of ${String(expected)}`);
}

/** Drives the real workspaces and the model side by side. */
class Driver {
  readonly world: World;
  readonly random: Random;
  readonly model = new Model();
  readonly leaves: (() => void)[] = [];
  steps = 0;

  constructor(world: World, random: Random) {
    this.world = world;
    this.random = random;
    this.model.now = world.time.now();
  }

  async step(): Promise<string> {
    const operations: [number, () => Promise<void>][] = [
      [10, () => this.create()],
      [6, () => this.settleCreation()],
      [2, () => this.reissue()],
      [12, () => this.extend()],
      [12, () => this.settleExtension()],
      [4, () => this.endReserve()],
      [8, () => this.search()],
      [6, () => this.ingest()],
      [3, () => this.enterAndLeave()],
      [14, () => this.advance()],
      [3, () => this.jump()],
      [10, () => this.sweep()],
      [4, () => this.remove()],
      [4, () => this.repeatDelete()],
      [1, () => this.operator()],
      [3, () => this.restart()],
      [3, () => this.crash()],
      [3, () => this.crashInCommit()],
    ];
    const operation = this.random.pick(
      operations.flatMap(([weight, one]) => Array.from({ length: weight }, () => one)),
    );
    if (!operation) throw new Error('there is nothing to do');
    await operation();
    this.steps += 1;
    const looked = this.model.workspaces.filter(() => this.steps % 10 === 0 || this.random.hits(0.1));
    await this.check(looked);
    return operation.toString();
  }

  any(filter: (workspace: ModelWorkspace) => boolean = () => true): ModelWorkspace | undefined {
    return this.random.pick(this.model.workspaces.filter(filter));
  }

  async create(): Promise<void> {
    const asked = this.random.pick([null, 1, 2, 15, 60, 1440, 5000, 0, -3]) ?? null;
    const minutes = clampMinutes(PRICING, asked);
    const price = creationPrice(PRICING, minutes);
    const spendLimit = this.random.hits(0.4) ? price - 2000n + BigInt(this.random.below(30_000)) : null;
    const created = await this.world.workspaces.create({ ttlMinutes: asked, spendLimit }).catch(codeOf);
    if (spendLimit !== null && spendLimit < price) return same(created, 'spend_limit_exceeded', 'creation');
    if (typeof created === 'string') throw new Difference(`creation refused: ${created}`);
    this.model.workspaces.push({
      id: created.id,
      price,
      minutes,
      spendLimit,
      state: 'pending',
      deadTokens: [],
      endsAt: 0,
      spend: 0n,
      reserve: 0,
      steps: [],
      digests: [],
      ingests: 0,
      searches: 0,
      searchesKept: 0,
      ingestsKept: 0,
      disposedAt: 0,
    });
    if (this.random.hits(0.7)) await this.settleCreation();
  }

  async settleCreation(): Promise<void> {
    const workspace = this.any(({ state }) => state === 'pending');
    if (!workspace) return;
    if (this.random.hits(0.2)) {
      await this.world.workspaces.undoCreation(workspace.id);
      workspace.state = 'undone';
      return;
    }
    await this.commitCreation(workspace);
  }

  async commitCreation(workspace: ModelWorkspace): Promise<void> {
    const { token, record } = await this.world.workspaces.commitCreation(workspace.id);
    workspace.state = 'active';
    workspace.token = token;
    workspace.spend = workspace.price;
    workspace.endsAt = this.model.now + workspace.minutes * MINUTE_MS;
    same(record.ttl_seconds_left, workspace.minutes * 60, 'seconds left at commit');
  }

  async reissue(): Promise<void> {
    const workspace = this.any(({ state }) => state === 'active' || state === 'disposed');
    if (!workspace) return;
    const call = this.random.hits(0.5) ? 'reissue' : 'commitCreation';
    const { token } = await this.world.workspaces[call](workspace.id);
    same(token !== undefined, this.model.isLive(workspace), 'a token again');
    if (token === undefined) return;
    if (workspace.token) workspace.deadTokens.push(workspace.token);
    workspace.token = token;
  }

  async extend(): Promise<void> {
    const workspace = this.any(({ state }) => state !== 'forgotten');
    if (!workspace) return;
    const asked = this.random.pick([null, 1, 5, 15, 60, 1440, 9999]) ?? null;
    const minutes = clampMinutes(PRICING, asked);
    const expected = this.model.refusalOfExtension(workspace, minutes);
    const isReserve = this.random.hits(0.5);
    const reserveMoney = isReserve ? 'play' : undefined;
    const result = await this.world.workspaces
      .extend(workspace.id, { payer: PAYER, ttlMinutes: asked, reserveMoney })
      .catch(codeOf);
    if (expected) return same(result, expected, 'extension');
    if (typeof result === 'string') throw new Difference(`extension refused: ${result}`);
    const price = PRICING.perMinute * BigInt(minutes);
    const since = this.model.now;
    workspace.steps.push({ id: result.step, minutes, price, since, isReserve, state: 'pending' });
  }

  /** The process may end in it; then it is asked for again. */
  async endReserve(): Promise<void> {
    const workspace = this.any(({ state }) => state === 'active');
    if (!workspace) return;
    if (this.random.hits(0.3)) this.world.boundariesLeft = this.random.below(2);
    const heartbeat = this.world.heartbeat();
    const answer = await this.world.workspaces.endReserve(workspace.id).catch((error: unknown) => {
      if (error instanceof Crash) return undefined;
      throw error;
    });
    this.world.boundariesLeft = Number.POSITIVE_INFINITY;
    const { reserve } = workspace;
    if (answer) same(answer.returned_minutes, reserve, 'minutes returned');
    const begun = this.world.workspaces.views.show(workspace.id)?.reserve.minutes === 0;
    if (begun) this.model.endReserve(workspace);
    if (answer) return same(answer.returned_usd, formatUsd(PRICING.perMinute * BigInt(reserve)), 'returned');
    this.leaves.length = 0;
    const kept = this.world.heartbeat();
    if (kept.rented < heartbeat.rented) throw new Difference('a heartbeat is lost');
    this.world.restart(0);
    this.model.restart(kept, this.world.clock.now());
    await this.world.workspaces.endReserve(workspace.id);
    this.model.endReserve(workspace);
  }

  async settleExtension(): Promise<void> {
    const workspace = this.any(({ steps, state }) => steps.length > 0 && state !== 'forgotten');
    const step = workspace && this.random.pick(workspace.steps);
    if (!workspace || !step) return;
    if (step.state === 'undone') return this.world.workspaces.undoExtension(step.id);
    if (step.state === 'pending' && this.random.hits(0.3)) {
      await this.world.workspaces.undoExtension(step.id);
      step.state = 'undone';
      return;
    }
    await this.commitStep(workspace, step);
  }

  async commitStep(workspace: ModelWorkspace, step: ModelStep): Promise<void> {
    const record = await this.world.workspaces.commitExtension(step.id);
    this.model.commit(workspace, step);
    same(record.price_usd, formatUsd(step.price), 'price of the step');
    same(record.spend_usd, formatUsd(workspace.spend), 'spend');
  }

  async search(): Promise<void> {
    const workspace = this.any((one) => this.model.isLive(one));
    if (!workspace) return;
    this.world.workspaces.activity.countSearch(workspace.id, { query: 'q', k: 3, hits: 1, latency_ms: 2 });
    workspace.searches += 1;
  }

  async ingest(): Promise<void> {
    const workspace = this.any((one) => this.model.isLive(one));
    if (!workspace) return;
    const digest = this.random
      .below(2 ** 31)
      .toString(16)
      .padStart(64, '0');
    this.world.tenants.ingest(workspace.id, digest);
    this.world.workspaces.activity.countIngest(workspace.id);
    workspace.digests.push(digest);
    workspace.ingests += 1;
  }

  async enterAndLeave(): Promise<void> {
    const left = this.leaves.splice(0);
    for (const leave of left) leave();
    if (left.length > 0) return;
    const workspace = this.any((one) => this.model.isLive(one));
    if (workspace) this.leaves.push(this.world.workspaces.enter(workspace.id));
  }

  async advance(): Promise<void> {
    const milliseconds =
      this.random.pick([1, 999, 60_000, 59_999, 600_000, 3_600_000, 40_000_000, 86_400_000]) ?? 1;
    this.world.clock.advance(milliseconds);
    this.model.now += milliseconds;
    this.model.useReserves();
  }

  async jump(): Promise<void> {
    this.world.clock.jump((this.random.below(2_000_001) - 1_000_000) * 60);
  }

  async sweep(): Promise<void> {
    await this.world.workspaces.sweep();
    for (const workspace of this.model.workspaces) {
      workspace.searchesKept = workspace.searches;
      workspace.ingestsKept = workspace.ingests;
      if (this.model.isDue(workspace)) this.model.dispose(workspace, 'expired');
      else if (workspace.state === 'disposed' && this.model.now >= workspace.disposedAt + RETENTION_MS)
        workspace.state = 'forgotten';
    }
    const { workspaces } = this.model;
    const ended = workspaces.findIndex(
      ({ state }) => state === 'disposed' || state === 'undone' || state === 'forgotten',
    );
    if (workspaces.length > TRACKED_MAX && ended >= 0) workspaces.splice(ended, 1);
  }

  async remove(): Promise<void> {
    const workspace = this.any();
    const token = workspace && this.random.hits(0.7) ? workspace.token : newToken();
    if (!workspace) return;
    const allowed = token !== undefined && token === workspace.token && this.model.isLive(workspace);
    if (!allowed && workspace.state === 'disposed') return;
    const answer = await this.world.workspaces.dispose(workspace.id, token).catch(codeOf);
    if (!allowed) return same(answer, 'workspace_unauthorized', 'DELETE');
    if (typeof answer === 'string') throw new Difference(`DELETE refused: ${answer}`);
    this.model.dispose(workspace, 'deleted');
    workspace.receipt = answer.receipt;
    await this.checkReceipt(workspace, answer.receipt);
  }

  async repeatDelete(): Promise<void> {
    const workspace = this.any(({ state, token }) => state === 'disposed' && token !== undefined);
    if (!workspace) return;
    const answer = await this.world.workspaces.dispose(workspace.id, workspace.token).catch(codeOf);
    const allowed = workspace.reason === 'deleted' && this.model.now < workspace.disposedAt + REPEAT_MS;
    if (!allowed) return same(answer, 'workspace_unauthorized', 'repeated DELETE');
    same(typeof answer === 'string' ? answer : answer.receipt, workspace.receipt, 'receipt again');
  }

  async operator(): Promise<void> {
    const workspace = this.any(({ state }) => state === 'active');
    if (!workspace) return;
    const { receipt } = await this.world.workspaces.disposeAsOperator(workspace.id);
    this.model.dispose(workspace, 'operator');
    await this.checkReceipt(workspace, receipt);
  }

  async restart(): Promise<void> {
    if (this.random.hits(0.5)) {
      await this.world.workspaces.close();
      for (const workspace of this.model.workspaces) {
        workspace.searchesKept = workspace.searches;
        workspace.ingestsKept = workspace.ingests;
      }
    }
    const heartbeat = this.world.heartbeat();
    if (heartbeat.rented > this.model.now) throw new Difference('a heartbeat from the future');
    this.leaves.length = 0;
    this.world.restart(this.random.pick([0, 1000, 600_000, 3_600_000, 5_000_000, 90_000_000]));
    this.model.restart(heartbeat, this.world.clock.now());
  }

  /** The process ends while a paid creation or extension is committed; the payment's recovery commits it again. */
  async crashInCommit(): Promise<void> {
    const workspace = this.any(
      ({ state, steps }) => state === 'pending' || (state === 'active' && steps.some(isPending)),
    );
    if (!workspace) return;
    const step = workspace.state === 'pending' ? undefined : workspace.steps.find(isPending);
    this.world.boundariesLeft = this.random.below(3);
    const { workspaces } = this.world;
    const commit = step ? workspaces.commitExtension(step.id) : workspaces.commitCreation(workspace.id);
    await commit.catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    const heartbeat = this.world.heartbeat();
    this.leaves.length = 0;
    this.world.restart(0);
    this.model.restart(heartbeat, this.world.clock.now());
    if (step) await this.commitStep(workspace, step);
    else await this.commitCreation(workspace);
  }

  /** The process ends somewhere in a DELETE, which either has not begun or completes at the next start. */
  async crash(): Promise<void> {
    const workspace = this.any((one) => this.model.isLive(one) && one.token !== undefined);
    if (!workspace) return;
    this.world.boundariesLeft = this.random.below(14);
    const answer = await this.world.workspaces
      .dispose(workspace.id, workspace.token)
      .catch((error: unknown) => {
        if (error instanceof Crash) return undefined;
        throw error;
      });
    this.world.boundariesLeft = Number.POSITIVE_INFINITY;
    const heartbeat = this.world.heartbeat();
    const begun = this.world.workspaces.views.show(workspace.id)?.state !== 'active';
    this.leaves.length = 0;
    this.world.restart(0);
    const { searches, ingests } = workspace;
    this.model.restart(heartbeat, this.world.clock.now());
    await this.world.workspaces.resume();
    // The same sweep ends what has expired.
    for (const other of this.model.workspaces) {
      if ((other !== workspace || !begun) && this.model.isDue(other)) this.model.dispose(other, 'expired');
    }
    if (!begun) return;
    this.model.dispose(workspace, 'deleted');
    const again = await this.world.workspaces.dispose(workspace.id, workspace.token);
    workspace.receipt = again.receipt;
    if (answer) same(again.receipt, answer.receipt, 'receipt after a crash');
    const claimed = Number(again.claims.searches);
    if (claimed < workspace.searches || claimed > searches)
      throw new Difference(`${claimed} searches claimed`);
    Object.assign(workspace, {
      searches: claimed,
      ingests: Math.max(Number(again.claims.ingests), workspace.ingests),
    });
    if (workspace.ingests > ingests) throw new Difference('ingests from nowhere');
    await this.checkReceipt(workspace, again.receipt);
  }

  async checkReceipt(workspace: ModelWorkspace, receipt: string): Promise<void> {
    const check = await verifyReceipt(receipt, this.world.signer.jwks());
    if (!check.valid) throw new Difference(`receipt: ${check.reason}`);
    const { claims } = check;
    same(claims.workspace, workspace.id, 'claims.workspace');
    same(claims.reason, workspace.reason, 'claims.reason');
    same(claims.items, workspace.digests.length, 'claims.items');
    same(claims.items_sha256, digestOfItems(workspace.digests), 'claims.items_sha256');
    same(claims.searches, workspace.searches, 'claims.searches');
    same(claims.ingests, workspace.ingests, 'claims.ingests');
    same(claims.spend_usd, formatUsd(workspace.spend), 'claims.spend_usd');
  }

  /** Compares everything visible of these workspaces. */
  async check(looked: readonly ModelWorkspace[]): Promise<void> {
    const { world, model } = this;
    same(world.time.now(), model.now, 'rented time');
    const returned = world.workspaces.returns(1e6).reduce((sum, { amount }) => sum + amount, 0n);
    same(formatUsd(returned), formatUsd(model.returned), 'owed for reserves');
    for (const workspace of looked) {
      const { id, token, deadTokens } = workspace;
      const live = model.isLive(workspace);
      same(world.workspaces.tokenOpens(id, token), live && token !== undefined, `${id}: its token opens`);
      const dead = this.random.pick(deadTokens) ?? newToken();
      same(world.workspaces.tokenOpens(id, dead), false, `${id}: a dead token opens`);
      const shown = world.workspaces.views.show(id);
      if (workspace.state === 'pending' || workspace.state === 'undone' || workspace.state === 'forgotten') {
        same(shown, undefined, `${id}: shown`);
        continue;
      }
      const state = workspace.state === 'disposed' ? 'disposed' : live ? 'active' : 'disposing';
      same(shown?.state, state, `${id}: state`);
      same(
        shown?.ttl_seconds_left,
        live ? Math.floor((workspace.endsAt - model.now) / 1000) : 0,
        `${id}: seconds left`,
      );
      same(shown?.spend_usd, formatUsd(workspace.spend), `${id}: spend`);
      same(shown?.reserve.minutes, workspace.reserve, `${id}: reserve`);
      if (workspace.spendLimit !== null) this.checkBudget(workspace, workspace.spendLimit);
      const has = world.tenants.has(id);
      if (workspace.state === 'disposed') same(has, false, `${id}: a folder left over`);
      else if (workspace.digests.length > 0) same(has, true, `${id}: its folder`);
    }
    const random = this.any(({ state }) => state === 'active');
    if (!random) return;
    const { searches, ingests, items } = await world.workspaces.views.usage(random.id);
    same(searches, random.searches, 'searches');
    same(ingests, random.ingests, 'ingests');
    same(items, random.digests.length, 'items');
  }

  /** Nothing exceeds the limit, except by late settlements, which were paid for as well. */
  checkBudget(workspace: ModelWorkspace, spendLimit: bigint): void {
    const { id, steps, state } = workspace;
    const pending = steps.filter(isPending).reduce((sum, step) => sum + step.price, 0n);
    const reserved = this.model.bound(workspace) + pending;
    const late = steps.some(({ since }) => since <= this.model.now - REPEAT_MS);
    if (reserved > spendLimit && !late && state === 'active') throw new Difference(`${id}: over its budget`);
  }
}

function isPending({ state }: ModelStep): boolean {
  return state === 'pending';
}

function codeOf(error: unknown): string {
  const code = errorCode(error);
  if (!code) throw error;
  return code;
}

t.test(`${STEPS} random steps of many workspaces agree with the model (seed ${SEED})`, async (t) => {
  t.setTimeout(30_000 + STEPS * 100);
  const world = await openWorld(t, { drainSecondsMax: 0.001 });
  const driver = new Driver(world, new Random(SEED));
  let last = '';
  for (let step = 0; step < STEPS; step += 1) {
    try {
      last = await driver.step();
    } catch (error) {
      t.comment(`after ${last}`);
      throw new Error(`seed ${SEED}, step ${step}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
  t.pass(`${driver.model.workspaces.length} workspaces in the end`);
});
