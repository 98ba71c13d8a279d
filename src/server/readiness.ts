import type { Readiness } from '../http/access/services.ts';
import { pricesOf } from '../purchases/prices.ts';
import { familyReports } from '../search/families.ts';
import type { Runtime } from './wire-process.ts';
import type { Slot } from './wire-slot.ts';

/** What `/readyz` answers. */
export function readinessOf(runtime: Runtime, slot: Slot): Readiness {
  const { settings, encoder, extractor, draining } = runtime;
  const reasons = [
    ...(draining.signal.aborted ? ['The server is stopping.'] : []),
    ...(encoder.serving() ? [] : ['No encoder could be started again.']),
  ];
  const reencoding = slot.reencoding.progress();
  return {
    ready: reasons.length === 0,
    body: {
      reasons,
      families: familyReports(encoder),
      queues: encoder.queueDepths(),
      payment: slot.services.gate.health(),
      extraction: extractor.confinement() ?? 'not started yet',
      prices_usd: pricesOf(settings).listed,
      workspace_minutes: {
        min: settings.WORKSPACE_TTL_MINUTES_MIN,
        max: settings.WORKSPACE_TTL_MINUTES_MAX,
      },
      ...(reencoding && { reencoding }),
    },
  };
}
