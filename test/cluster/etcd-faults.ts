import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../rig/random.ts';
import type { EtcdServers } from './etcd-servers.ts';
import { Relay, type RelayWeather } from './relay.ts';

const WEATHER: RelayWeather = {
  delayMsMax: 40,
  delayed: 0.1,
  cutBefore: 0.004,
  cutAfter: 0.01,
  silent: 0.002,
};
const BETWEEN_MS_MAX = 3000;
/** Longer than etcd's members wait for their leader, which is one to two seconds, and than a server's request waits: four. */
const PAUSE_MS_MAX = 6000;

/**
 * Faults of an etcd and of the way to it, at random moments: members, as often as not the leader, stand still or are killed; relays between
 * the server and each member delay, lose answers and cut connections. At most one member is away at a time.
 */
export class EtcdFaults {
  /** `host:port` of each relay. */
  readonly members: readonly string[];
  /** How often each kind came. */
  readonly counts: Record<string, number>;
  readonly #servers: EtcdServers;
  readonly #relays: readonly Relay[];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  static async start(servers: EtcdServers, random: Random): Promise<EtcdFaults> {
    const counts: Record<string, number> = {};
    const onFault = (fault: string) => {
      counts[fault] = (counts[fault] ?? 0) + 1;
    };
    const relays = await Promise.all(
      servers.addresses.map((address) =>
        Relay.start({
          target: Number(new URL(address).port),
          random: random.fork(),
          weather: WEATHER,
          onFault,
        }),
      ),
    );
    const faults = new EtcdFaults(servers, relays, random, counts);
    faults.#running = faults.#run();
    return faults;
  }

  private constructor(
    servers: EtcdServers,
    relays: readonly Relay[],
    random: Random,
    counts: Record<string, number>,
  ) {
    this.#servers = servers;
    this.#relays = relays;
    this.#random = random;
    this.counts = counts;
    this.members = relays.map(({ port }) => `127.0.0.1:${port}`);
  }

  /** No fault comes any more, and every member runs. The relays stay. */
  async calm(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async close(): Promise<void> {
    await this.calm();
    await Promise.all(this.#relays.map((relay) => relay.close()));
  }

  async #run(): Promise<void> {
    while (await this.#wait(this.#random.below(BETWEEN_MS_MAX))) {
      const kind = this.#random.pick(['pause', 'pause', 'kill', 'cut'] as const);
      if (kind === 'cut') {
        for (const relay of this.#relays) relay.cutAll();
        continue;
      }
      const leader = await this.#servers.leader();
      const member = leader !== undefined && this.#random.hits(0.5) ? leader : this.#random.below(3);
      const what = `${member === leader ? 'the leader' : 'a follower'} ${kind === 'pause' ? 'paused' : 'killed'}`;
      this.counts[what] = (this.counts[what] ?? 0) + 1;
      if (kind === 'kill') await this.#servers.killAndRestart(member);
      else {
        this.#servers.pause(member);
        await this.#wait(this.#random.below(PAUSE_MS_MAX));
        this.#servers.resume(member);
      }
    }
  }

  /** @returns false once it is to be calm */
  #wait(milliseconds: number): Promise<boolean> {
    return after(milliseconds, true, { signal: this.#stopping.signal }).catch(() => false);
  }
}
