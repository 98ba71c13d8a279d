import { join } from 'node:path';
import type { Test } from 'tap';
import { MINUTE_MS } from '../../../src/protocol/clock.ts';
import type { WorkspaceId } from '../../../src/protocol/id.ts';
import { openStore, type Store } from '../../../src/server/state/store.ts';
import { openReceiptSigner, type ReceiptSigner } from '../../../src/server/workspace/disposal/receipt.ts';
import { RentedTime } from '../../../src/server/workspace/time/rented-time.ts';
import type { WorkspaceSettings } from '../../../src/server/workspace/time/settings.ts';
import type { WorkspacePricing } from '../../../src/server/workspace/workspace.ts';
import { Workspaces } from '../../../src/server/workspace/workspaces.ts';
import { FakeTenants } from './fake-tenants.ts';
import { SimulatedClock } from './simulated-clock.ts';
import '../../rig/teardown-order.ts';

export const PRICING: WorkspacePricing = {
  base: 10_000n,
  perMinute: 500n,
  ttlMinutesMin: 1,
  ttlMinutesMax: 1440,
  ttlTotalMinutesMax: 7 * 1440,
  ttlMinutesDefault: 15,
};

export const REFUND_MINUTES = 60;

/** Thrown where the simulated process ends. Nothing after it has any effect. */
export class Crash extends Error {}

/** Pays for extensions. */
export const PAYER = `0x${'ab'.repeat(20)}` as const;

/** Closed when the test ends. */
export async function openWorld(
  t: Pick<Test, 'testdir' | 'teardown'>,
  settings: Partial<WorkspaceSettings> = {},
): Promise<World> {
  const world = await World.open(t.testdir(), settings);
  t.teardown(() => world.close());
  return world;
}

/** A server's workspaces over a real store, with simulated time, and a process that can end at any boundary. */
export class World {
  readonly clock = new SimulatedClock();
  readonly store: Store;
  readonly signer: ReceiptSigner;
  readonly tenants: FakeTenants;
  readonly events: object[] = [];
  readonly stopped: string[] = [];
  time: RentedTime;
  workspaces: Workspaces;
  /** Boundaries left before the process ends. */
  boundariesLeft = Number.POSITIVE_INFINITY;
  readonly #settings: Partial<WorkspaceSettings>;

  static async open(folder: string, settings: Partial<WorkspaceSettings> = {}): Promise<World> {
    return new World(
      folder,
      openStore(join(folder, 'state')),
      await openReceiptSigner(join(folder, 'keys')),
      settings,
    );
  }

  private constructor(
    folder: string,
    store: Store,
    signer: ReceiptSigner,
    settings: Partial<WorkspaceSettings>,
  ) {
    this.signer = signer;
    this.#settings = settings;
    this.store = {
      ...store,
      transaction: async (work) => {
        this.boundary();
        const result = await store.transaction(work);
        this.boundary();
        return result;
      },
    };
    this.tenants = new FakeTenants(join(folder, 'tenants'), () => this.boundary());
    ({ time: this.time, workspaces: this.workspaces } = this.#build());
  }

  boundary(): void {
    if (this.boundariesLeft <= 0) throw new Crash('the process has ended');
    this.boundariesLeft -= 1;
  }

  /** The process is down for a time, and a new one starts over the same disk. */
  restart(downMs = 0): void {
    this.boundariesLeft = Number.POSITIVE_INFINITY;
    this.clock.down(downMs);
    ({ time: this.time, workspaces: this.workspaces } = this.#build());
  }

  /** The last moment written to the disk. Before the first, no downtime counts. */
  heartbeat(): { rented: number; wall: number } {
    return (
      this.store.table<{ rented: number; wall: number }>('workspace_clock').get('heartbeat') ?? {
        rented: 0,
        wall: Number.POSITIVE_INFINITY,
      }
    );
  }

  minutes(count: number): void {
    this.clock.advance(count * MINUTE_MS);
  }

  async active(
    input: { ttlMinutes?: number; spendLimit?: bigint } = {},
  ): Promise<{ id: WorkspaceId; token: string }> {
    const { id } = await this.workspaces.create(input);
    const { token } = await this.workspaces.commitCreation(id);
    return { id, token: token ?? '' };
  }

  async close(): Promise<void> {
    await this.workspaces.close();
    await this.store.close();
  }

  #build(): { time: RentedTime; workspaces: Workspaces } {
    const { clock, store, tenants, signer } = this;
    const time = new RentedTime(store, clock, {
      downtimeRefundMinutesMax: REFUND_MINUTES,
      monotonic: clock.monotonic,
    });
    const workspaces = new Workspaces({
      store,
      clock,
      time,
      tenants,
      pricing: PRICING,
      signer: {
        sign: async (claims) => {
          this.boundary();
          return signer.sign(claims);
        },
      },
      issuer: 'http://127.0.0.1:8402',
      stopTenant: async (tenant) => {
        this.boundary();
        this.stopped.push(tenant);
      },
      limits: { file_bytes_max: 1000 },
      links: (id) => ({ self: `http://127.0.0.1:8402/agent/v1/workspaces/${id}` }),
      settings: { drainSecondsMax: 0.05, ...this.#settings },
      log: (event) => this.events.push(event),
    });
    return { time, workspaces };
  }
}
