import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Certificates } from '../rig/certificates.ts';
import { eventually } from '../rig/eventually.ts';
import { freePorts } from '../rig/ports.ts';

/** Built by `make etcd`. */
const PROGRAM = resolve(import.meta.dirname, '../../.build/etcd');

/** Why there is no etcd to test with; undefined where there is. */
export const withoutEtcd = existsSync(PROGRAM) ? undefined : 'needs etcd: `make etcd` builds it where Go is';

export interface EtcdOptions {
  /** Clients need a certificate of their own then, and TLS; nothing waits until it answers. */
  readonly certificates?: Certificates;
  /** At this size it takes no more writes. */
  readonly bytesMax?: number;
}

/** Three members of one etcd on this machine. */
export class EtcdServers {
  readonly addresses: readonly string[];
  readonly #start: readonly (() => ChildProcess)[];
  readonly #members: ChildProcess[];

  /** @param folder has a folder for each member's data */
  static async start(folder: string, options: EtcdOptions = {}): Promise<EtcdServers> {
    const ports = await freePorts(6);
    const servers = new EtcdServers(folder, ports, options);
    if (!options.certificates) await servers.ready();
    return servers;
  }

  private constructor(folder: string, ports: readonly number[], { certificates, bytesMax }: EtcdOptions) {
    const scheme = certificates ? 'https' : 'http';
    const secure = certificates
      ? [
          ...['--cert-file', certificates.cert, '--key-file', certificates.key],
          ...['--trusted-ca-file', certificates.ca, '--client-cert-auth'],
        ]
      : [];
    const members = [0, 1, 2].map((number) => ({
      name: `m${number}`,
      client: `${scheme}://127.0.0.1:${ports[2 * number]}`,
      peer: `http://127.0.0.1:${ports[2 * number + 1]}`,
    }));
    const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join();
    this.addresses = members.map(({ client }) => client);
    this.#start = members.map(({ name, client, peer }) => () => {
      const child = spawn(
        PROGRAM,
        [
          ...['--name', name, '--data-dir', join(folder, name), '--initial-cluster', cluster],
          ...['--listen-client-urls', client, '--advertise-client-urls', client],
          ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
          ...['--log-level', 'error', ...secure],
          ...(bytesMax === undefined ? [] : ['--quota-backend-bytes', String(bytesMax)]),
        ],
        { stdio: 'ignore' },
      );
      return child;
    });
    this.#members = this.#start.map((start) => start());
  }

  /** `host:port` of each member. */
  get members(): readonly string[] {
    return this.addresses.map((address) => new URL(address).host);
  }

  /** Process ids of the running members, in order. */
  get pids(): readonly number[] {
    return this.#members.map(({ pid }) => pid!);
  }

  /** Number of questions that all members have answered. */
  async questions(): Promise<number> {
    const texts = await Promise.all(
      this.addresses.map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    const counts = texts.flatMap((text) => [...text.matchAll(/^grpc_server_handled_total\{.*\} (\d+)$/gm)]);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** As FARTHING_CLUSTER names a cluster of this etcd. */
  cluster(name: string): string {
    return `etcd://${this.members.join()}/${name}`;
  }

  /** Resolves when most members answer together. */
  async ready(): Promise<void> {
    await eventually(async () => {
      const answers = await Promise.all(this.addresses.map(answersWhole));
      return answers.filter(Boolean).length >= 2;
    });
  }

  /** Kills one member, as a power cut does to a process, and starts it again. */
  async killAndRestart(number: number): Promise<void> {
    await killed(this.#members[number]!);
    this.#members[number] = this.#start[number]!();
  }

  /** One member, or all, stand still until `resume`, as machines do that cannot be reached. */
  pause(number?: number): void {
    for (const member of this.#these(number)) member.kill('SIGSTOP');
  }

  resume(number?: number): void {
    for (const member of this.#these(number)) member.kill('SIGCONT');
  }

  /** The number of the member that leads; undefined while none says so. */
  async leader(): Promise<number | undefined> {
    const leads = await Promise.all(this.addresses.map(isLeader));
    const number = leads.indexOf(true);
    return number === -1 ? undefined : number;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(killed));
  }

  /** Starts all members again after `stop`, and waits until most answer together. */
  async restart(): Promise<void> {
    for (const [number, start] of this.#start.entries()) this.#members[number] = start();
    await this.ready();
  }

  #these(number: number | undefined): readonly ChildProcess[] {
    return number === undefined ? this.#members : [this.#members[number]!];
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A linearizable read needs a majority. */
async function answersWhole(address: string): Promise<boolean> {
  const read = { method: 'POST', body: JSON.stringify({ key: 'AA==' }), signal: AbortSignal.timeout(2000) };
  return fetch(`${address}/v3/kv/range`, read).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function isLeader(address: string): Promise<boolean> {
  const ask = { method: 'POST', body: '{}', signal: AbortSignal.timeout(1000) };
  const status = await fetch(`${address}/v3/maintenance/status`, ask)
    .then(async (response) => (await response.json()) as { header?: { member_id?: string }; leader?: string })
    .catch(() => undefined);
  return status?.leader !== undefined && status.leader === status.header?.member_id;
}
