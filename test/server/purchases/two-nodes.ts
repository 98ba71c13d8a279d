import { join } from 'node:path';
import type { Test } from 'tap';
import { AcrossSlots, type PaidPlace, type PaidServices } from '../../../src/cluster/across/across-slots.ts';
import { OrphanedExtensions } from '../../../src/cluster/across/orphaned-extensions.ts';
import { peerHandlers } from '../../../src/cluster/across/peer-handlers.ts';
import { PeerPurchases } from '../../../src/cluster/across/peer-purchases.ts';
import { SharedLock } from '../../../src/cluster/across/shared-lock.ts';
import { peerRoutes } from '../../../src/cluster/forward/peer-routes.ts';
import type { Peer } from '../../../src/cluster/peers/peer.ts';
import { HttpPeerCalls, PeerAwayError } from '../../../src/cluster/peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../../src/cluster/peers/peer-signature.ts';
import type { Address } from '../../../src/protocol/address.ts';
import { moment } from '../../../src/protocol/clock.ts';
import { Cors } from '../../../src/server/http/exchange/cors.ts';
import { listen } from '../../../src/server/http/exchange/server.ts';
import { WorkspaceExtension } from '../../../src/server/purchases/paid-workspace.ts';
import { type GateRig, openRig } from '../../payment/rig/gate-rig.ts';
import { wallet } from '../../payment/rig/payments.ts';
import { type Asking, ask } from '../../payment/rig/requests.ts';
import { World } from '../workspace/world.ts';

const KEYS = peerKeysOf('c'.repeat(64));

/** Outcome of the next calls of a name: `away`: nothing happens; `lost`: the call happens, and its answer is lost. */
type Fate = 'away' | 'lost';

/** A server with its peers' calls. */
class Node {
  readonly across: AcrossSlots;
  readonly calls: HttpPeerCalls;
  readonly fates = new Map<string, Fate>();
  readonly heard: string[] = [];
  peer!: Peer;

  constructor(id: string, placeOf: (id: string) => PaidPlace) {
    this.calls = new HttpPeerCalls(new PeerSignatures(KEYS, id));
    const peers = new PeerPurchases(this.calls);
    this.across = new AcrossSlots({ placeOf, lock: new SharedLock(), peers });
  }

  async listen(t: Test, id: string): Promise<void> {
    const handlers = Object.entries(peerHandlers((of) => this.across.booksHere(of)));
    const fateful = handlers.map(([name, handler]) => [
      name,
      async (body: unknown) => {
        this.heard.push(name);
        const fate = this.fates.get(name);
        if (fate === 'away') throw new PeerAwayError('away');
        const answer = await handler(body);
        // The caller cannot know whether the call happened.
        if (fate === 'lost') throw new PeerAwayError('lost');
        return answer;
      },
    ]);
    const server = await listen({
      host: '127.0.0.1',
      port: 0,
      cors: new Cors([]),
      routes: peerRoutes(Object.fromEntries(fateful), new PeerSignatures(KEYS, id)),
      onAnswered: () => undefined,
      onFault: (error) => t.fail(String(error)),
    });
    this.peer = { id, url: `http://127.0.0.1:${server.port}` };
    t.teardown(async () => {
      this.calls.close();
      await server.close();
    });
  }
}

/** A payer's store at one server and a workspace at another, which call each other over HTTP. */
export class TwoNodes {
  readonly payers: Node;
  readonly workspaces: Node;
  readonly world: World;
  readonly account = wallet();
  readonly events: object[] = [];
  /** Clock of the workspaces' server. */
  ms = 0;
  rig!: GateRig;
  extension!: WorkspaceExtension;
  id = '';
  #orphans!: OrphanedExtensions;
  readonly #t: Test;

  static async open(t: Test): Promise<TwoNodes> {
    const nodes = new TwoNodes(t, await World.open(join(t.testdir(), 'workspaces')));
    t.teardown(() => nodes.world.close());
    await nodes.payers.listen(t, 'payers');
    await nodes.workspaces.listen(t, 'workspaces');
    nodes.id = (await nodes.world.active({ ttlMinutes: 10 })).id;
    return nodes;
  }

  private constructor(t: Test, world: World) {
    this.#t = t;
    this.world = world;
    this.payers = new Node('payers', (id) =>
      id.startsWith('payer_') ? { services: this.#paid(this.world) } : { peer: this.workspaces.peer },
    );
    this.workspaces = new Node('workspaces', (id) =>
      id.startsWith('payer_') ? { peer: this.payers.peer } : { services: this.#rented() },
    );
    this.startOrphans();
  }

  /** Starts the payers' server, over what a former one left. */
  startPayers(options: { dies?: boolean } = {}): void {
    const former = this.rig as GateRig | undefined;
    this.extension = new WorkspaceExtension({
      workspaces: this.world.workspaces,
      leadsHere: (id) => id.startsWith('payer_'),
      extensionsOf: (id) => this.payers.across.extensionsOf(id),
      now: moment,
    });
    // It has no workspaces.
    const extension = Object.assign(this.extension, { pending: async () => [] });
    this.rig = openRig(this.#t, {
      ...options,
      extension,
      ...(former && { store: former.store, folder: former.folder }),
    });
  }

  /** The workspaces' server begins to count anew. */
  startOrphans(): void {
    this.#orphans = new OrphanedExtensions({
      workspaces: this.world.workspaces,
      leadsHere: (id) => id.startsWith('ws_'),
      knows: (payer, step) => this.workspaces.across.knows(payer, step),
      log: (event) => this.events.push(event),
      now: () => this.ms,
    });
  }

  /** Time passes at the workspaces' server, second by second; all that is asked is answered. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.ms += 1000;
      await this.#orphans.sweep();
    }
  }

  request(paymentSignature: string, overrides: Partial<Asking> = {}) {
    return ask({ paymentSignature, mode: 'effect', run: () => this.buy(), ...overrides });
  }

  buy() {
    const payer = this.account.address.toLowerCase() as Address;
    return this.extension.buy({ id: this.id, payer, ttlMinutes: 20 });
  }

  get pending(): number {
    return this.world.workspaces.pendingExtensions().length;
  }

  async minutesPaid(): Promise<number> {
    const { ttl_seconds_left } = await this.world.workspaces.views.usage(this.id as never);
    return Math.round(ttl_seconds_left! / 60);
  }

  #paid({ workspaces }: World): PaidServices {
    return { workspaces, purchases: { extension: this.extension }, gate: this.rig.gate };
  }

  #rented(): PaidServices {
    const none = { isUnderWay: () => false } as unknown as WorkspaceExtension;
    return {
      workspaces: this.world.workspaces,
      purchases: { extension: none },
      gate: { openEffects: () => [], takeBack: () => Promise.reject(new Error('no wallet is here')) },
      stable: async () => undefined,
    };
  }
}
