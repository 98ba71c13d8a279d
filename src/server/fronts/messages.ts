import type { SharedModels } from '@farthing/engine/encode/shared-models';
import type { ProbedEvent } from '@farthing/engine/search/recall-probe';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Settings } from '../settings/settings.ts';
import type { CountedSearch } from '../workspace/activity/activity.ts';
import type { TenantLimitSettings } from '../workspace/tenant-limits.ts';
import type { WorkspaceRecord } from '../workspace/workspace.ts';
import type { SharedMemory } from './shared-counts.ts';

/** All that a front needs to begin. */
export interface FrontSettings {
  /** Its number, from 0. */
  readonly front: number;
  readonly memory: SharedMemory;
  readonly log: Pick<Settings, 'LOG_LEVEL'>;
  readonly corsOrigins: readonly string[];
  readonly models: SharedModels;
  /** Tasks that it hands to the native encoder at a time. */
  readonly queriesAtOnce: number;
  readonly queryQueueMax: number;
  readonly queryWaitMsMax?: number;
  readonly searchBodyBytesMax: number;
  readonly unsentBytesMax: number;
  readonly tenantLimits: Pick<TenantLimitSettings, 'requestsPerSecond' | 'burst' | 'searchesAtOnce'>;
}

/** A workspace that a front may read, while its slot has this generation. */
export interface Grant {
  readonly slot: number;
  readonly generation: number;
  readonly record: WorkspaceRecord;
  /** SHA-256 of its token, in hexadecimal. */
  readonly tokenHash: string;
  readonly owner: string;
  /** Queries in other languages than the model of pictures' labels knows are the owner's. */
  readonly translates: boolean;
}

/** A request's head, as it crosses to the owner. */
export interface CarriedHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Why it could be read in two ways. */
  readonly fault?: string;
}

/** One call of uWebSockets.js' HttpResponse, in the order of the calls. */
export type Call =
  | readonly ['status', text: string]
  | readonly ['header', name: string, value: string]
  | readonly ['write', bytes: Uint8Array]
  | readonly ['part', bytes: Uint8Array, total: number]
  | readonly ['end', bytes: Uint8Array, close: boolean]
  | readonly ['headOnly', bytes: number | undefined, close: boolean];

/** What was counted of the searches that a front has answered. */
export interface Uses {
  /** The log's lines, whole. */
  readonly lines: string;
  readonly searches: readonly (readonly [workspace: string, search: CountedSearch])[];
  readonly probes: readonly ProbedEvent[];
  /** Events for the log, which count as one of the server's. */
  readonly events: readonly object[];
}

export type FrontMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

export type ToOwner =
  | { readonly kind: 'ready'; readonly descriptor: unknown }
  | {
      readonly kind: 'begin';
      readonly id: number;
      readonly head: CarriedHead;
      /** Remote address, as uWebSockets.js has it. */
      readonly address: ArrayBuffer;
      /** The first piece of its body, where that has come. */
      readonly piece?: ArrayBuffer;
      readonly last: boolean;
      /** The workspace that the front could read by itself, if it were granted. */
      readonly asks?: string;
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: ArrayBuffer; readonly last: boolean }
  /** Bytes of the answer that the socket has taken. */
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'aborted'; readonly id: number }
  | { readonly kind: 'uses'; readonly uses: Uses }
  | { readonly kind: 'left'; readonly slot: number }
  | { readonly kind: 'flushed'; readonly call: number }
  | { readonly kind: 'metrics'; readonly metrics: FrontMetrics }
  | { readonly kind: 'drained' }
  /** It cannot go on: it ends with `leave`. */
  | { readonly kind: 'failed'; readonly error: unknown };

export type ToFront =
  | { readonly kind: 'grant'; readonly workspace: string; readonly grant: Grant }
  | { readonly kind: 'pause' | 'resume' | 'close'; readonly id: number }
  /** Bytes of the body that the owner has read. */
  | { readonly kind: 'read'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'calls'; readonly id: number; readonly calls: readonly Call[] }
  | { readonly kind: 'flush'; readonly call: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'drain' }
  /** The acceptor gives it no more connections: it closes those that it has, and ends. */
  | { readonly kind: 'leave' };
