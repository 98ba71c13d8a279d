import { Worker } from 'node:worker_threads';
import type { Tenants } from '@farthing/engine/shard/tenants';
import { FarthingError } from '@farthing/protocol/error';
import type { WorkspaceId } from '@farthing/protocol/id';
import { bearerToken } from '../http/access/workspace-access.ts';
import type { Connections, Server } from '../http/exchange/server.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Workspaces } from '../workspace/workspaces.ts';
import type { Grants } from './grants.ts';
import type { CarriedHead, FrontMetrics, FrontSettings, ToFront, ToOwner, Uses } from './messages.ts';
import { RemoteResponse } from './remote-response.ts';
import type { SharedCounts } from './shared-counts.ts';

/** Parts of the owner that its fronts use. */
export interface FrontDeps {
  readonly settings: Omit<FrontSettings, 'front'>;
  readonly counts: SharedCounts;
  readonly grants: Grants;
  readonly tenants: Tenants;
  readonly workspaces: Pick<Workspaces, 'tokenOpens' | 'opened' | 'activity'>;
  readonly metrics: Metrics;
  /** Writes whole lines of the log. */
  readonly write: (lines: string) => void;
  readonly log: (event: object) => void;
}

const PROGRAM = new URL('./front.ts', import.meta.url);

/** One front thread, as the owner has it. */
export class FrontThread {
  readonly ready: Promise<void>;
  /** As it last reported them. */
  lastMetrics: FrontMetrics | undefined;
  readonly #number: number;
  readonly #deps: FrontDeps;
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  readonly #answering = new Map<number, RemoteResponse>();
  readonly #calls = new Map<number, () => void>();
  readonly #heard = new Map<'drained' | 'metrics', (() => void)[]>();
  #call = 0;
  #descriptor: unknown;
  #connections: Connections | undefined;
  #disconnect: (() => void) | undefined;
  /** It ends: nothing more is asked of it. */
  #isLeaving = false;

  constructor(number: number, deps: FrontDeps, onEnded: (front: FrontThread) => void) {
    this.#number = number;
    this.#deps = deps;
    const settings: FrontSettings = { ...deps.settings, front: number };
    this.#thread = new Worker(PROGRAM, { workerData: settings, name: `front ${number}` });
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#thread.on('message', (message: ToOwner) => {
      if (message.kind !== 'ready') return this.#hear(message);
      this.#descriptor = message.descriptor;
      ready.resolve();
    });
    this.#thread.on('error', (error) => {
      // It could not begin; one that runs says what failed, and leaves.
      ready.reject(error);
    });
    this.#ended = new Promise((resolve) => {
      this.#thread.on('exit', (code) => {
        ready.reject(new Error(`the thread ended with ${code}`));
        this.#end();
        if (this.#descriptor !== undefined) onEnded(this);
        resolve();
      });
    });
  }

  connect(server: Server): void {
    this.#connections = server.connections;
    this.#disconnect = server.share(this.#descriptor);
  }

  /** Resolves when it has reported what it has counted, or has ended. */
  flush(): Promise<void> {
    const call = ++this.#call;
    return this.#asking(
      new Promise((done) => {
        this.#calls.set(call, done);
        this.#post({ kind: 'flush', call });
      }),
    );
  }

  async metrics(): Promise<FrontMetrics | undefined> {
    await this.#asking(this.#next('metrics', { kind: 'count' }));
    return this.lastMetrics;
  }

  drained(): Promise<void> {
    return this.#asking(this.#next('drained', { kind: 'drain' }));
  }

  async end(): Promise<void> {
    this.#leave();
    await this.#ended;
  }

  #next(kind: 'drained' | 'metrics', message: ToFront): Promise<void> {
    return new Promise((done) => {
      const waiting = this.#heard.get(kind) ?? [];
      this.#heard.set(kind, waiting);
      waiting.push(done);
      if (waiting.length === 1) this.#post(message);
    });
  }

  async #asking(answer: Promise<void>): Promise<void> {
    if (!this.#isLeaving) await Promise.race([answer, this.#ended]);
  }

  /** The acceptor gives it no more, and then it closes what it has. */
  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#disconnect?.();
    this.#post({ kind: 'leave' });
  }

  #end(): void {
    const { counts, grants } = this.#deps;
    this.#isLeaving = true;
    this.#disconnect?.();
    for (const response of [...this.#answering.values()]) response.abort();
    for (const slot of counts.forgetFront(this.#number)) grants.heard(slot);
  }

  #hear(message: Exclude<ToOwner, { readonly kind: 'ready' }>): void {
    switch (message.kind) {
      case 'begin':
        this.#begin(message);
        return;
      case 'piece':
        this.#answering.get(message.id)?.deliver(message.piece, message.last);
        return;
      case 'taken':
        this.#answering.get(message.id)?.taken(message.bytes);
        return;
      case 'aborted':
        this.#answering.get(message.id)?.abort();
        return;
      case 'uses':
        this.#count(message.uses);
        return;
      case 'left':
        this.#deps.grants.heard(message.slot);
        return;
      case 'flushed':
        this.#calls.get(message.call)?.();
        this.#calls.delete(message.call);
        return;
      case 'metrics':
        this.lastMetrics = message.metrics;
        this.#told('metrics');
        return;
      case 'drained':
        this.#told('drained');
        return;
      case 'failed':
        this.#deps.log({ event: 'front_lost', level: 'error', front: this.#number, err: message.error });
        this.#leave();
        return;
    }
  }

  #told(kind: 'drained' | 'metrics'): void {
    for (const done of this.#heard.get(kind)?.splice(0) ?? []) done();
  }

  #begin({ id, head, address, piece, last, asks }: Extract<ToOwner, { kind: 'begin' }>): void {
    const response = new RemoteResponse(
      id,
      address,
      (message) => this.#post(message),
      () => this.#answering.delete(id),
    );
    this.#answering.set(id, response);
    const request = headOf(head);
    const token = bearerToken({ header: (name) => request.head.headers.get(name) });
    const onWorked = asks === undefined ? undefined : () => this.#grant(asks, token);
    const incoming = { ...request, ...(onWorked && { onWorked }) };
    this.#connections!.take(response.asResponse, incoming, true);
    if (piece || last) response.deliver(piece ?? new ArrayBuffer(0), last);
  }

  /** The front may read the workspace from now on, if the request's token opens it. */
  #grant(workspace: string, token: string | undefined): void {
    const { grants, workspaces, tenants } = this.#deps;
    if (!workspaces.tokenOpens(workspace, token)) return;
    const grant = grants.grant(workspace as WorkspaceId, workspaces, tenants);
    if (grant) this.#post({ kind: 'grant', workspace, grant });
  }

  #count({ lines, searches, probes, events }: Uses): void {
    const { workspaces, tenants, metrics, write, log } = this.#deps;
    if (lines !== '') write(lines);
    for (const [workspace, search] of searches)
      workspaces.activity.countSearch(workspace as WorkspaceId, search);
    for (const workspace of new Set(searches.map(([searched]) => searched))) tenants.touch(workspace);
    for (const probe of probes) metrics.probed(probe);
    for (const event of events) log(event);
  }

  #post(message: ToFront): void {
    this.#thread.postMessage(message);
  }
}

function headOf({ headers, fault, ...head }: CarriedHead) {
  const pairs = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) pairs.set(headers[at]!, headers[at + 1]!);
  return {
    head: { ...head, headers: pairs },
    ...(fault !== undefined && { fault: new FarthingError('request_malformed', fault) }),
  };
}
