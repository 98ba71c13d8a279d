import type { ModelVersions } from '../encode/model-versions.ts';
import type { IngestEncoder } from '../ingest/ports/ports.ts';
import type { Tenants } from '../shard/tenants.ts';

/** Encodes for ingests: an index that a previous model still serves gets that model's vectors, too. */
export function ingestEncoder(encoders: ModelVersions, tenants: Tenants): IngestEncoder {
  const encoder = encoders.current;
  const previousOf = (tenant: string) =>
    tenants.use(tenant, {}, (shard) => {
      const snapshot = shard.snapshot();
      try {
        return snapshot.previousSpaces();
      } finally {
        snapshot.close();
      }
    });
  return {
    pictureSpec: encoder.pictureSpec,
    cutPassages: (document, options) => encoder.cutPassages(document, options),
    encodeIngest: async (kind, inputs, options) =>
      encoders.encodeIngest(kind, inputs, options, await previousOf(options.tenant)),
    admitIngest: () => encoder.admitIngest(),
  };
}
