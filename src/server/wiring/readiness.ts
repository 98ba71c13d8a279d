import { statfsSync } from 'node:fs';
import { familyReports } from '@farthing/engine/search/families';
import type { Readiness } from '../http/access/services.ts';
import { pricesOf } from '../purchases/prices.ts';
import { TTL_MINUTES, ttlMinutesMax } from '../workspace/workspace.ts';
import type { AllBooks } from './all-books.ts';
import type { Runtime } from './process.ts';

/** From this lag on, requests are refused. */
const LAG_MS_MAX = 5000;

/** A transaction of a payment takes some LMDB pages: with less space the store cannot be written. */
const FREE_BYTES_MIN = 2 ** 20;

/** The answer of `/readyz`. */
export function readinessOf(runtime: Runtime, books: AllBooks): Readiness {
  const { settings, data, encoder, extractor, draining } = runtime;
  const payment = books.health();
  const { obstacle } = payment.facilitator;
  const reasons = [
    ...(draining.signal.aborted ? ['The server is stopping.'] : []),
    ...(books.lagMs() > LAG_MS_MAX ? ['The books cannot be written.'] : []),
    ...(freeBytes(data) < FREE_BYTES_MIN ? ['The disk is full.'] : []),
    ...(obstacle === undefined ? [] : [`Nothing can be sold: ${obstacle}.`]),
    ...(encoder.serving() ? [] : ['No encoder could be started again.']),
  ];
  const previous = books.previousModels();
  const { modelsDiffer } = books.placement;
  return {
    ready: reasons.length === 0,
    body: {
      reasons,
      families: familyReports(encoder),
      queues: encoder.queueDepths(),
      payment,
      extraction: extractor.confinement() ?? 'not started yet',
      prices_usd: pricesOf(settings).listed,
      workspace_minutes: {
        min: TTL_MINUTES.min,
        max: ttlMinutesMax(settings.WORKSPACE_TTL_TOTAL_MINUTES_MAX),
      },
      ...(previous.length > 0 && { previous_models: previous }),
      ...(modelsDiffer !== undefined && { models_differ: modelsDiffer }),
    },
  };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
