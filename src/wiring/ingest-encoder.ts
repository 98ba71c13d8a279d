import type { IndexModels } from '../encode/index-models.ts';
import type { IngestEncoder } from '../ingest/ports/ports.ts';
import type { Tenants } from '../shard/tenants.ts';

/** Encodes for ingests, each index by its own models. */
export function ingestEncoder(models: IndexModels, tenants: Tenants): IngestEncoder {
  const { current } = models;
  return {
    pictureSpec: current.pictureSpec,
    cutPassages: (document, options) => current.cutPassages(document, options),
    encodeIngest: async (kind, inputs, options) => {
      const spaces = await tenants.use(options.tenant, {}, (shard) => shard.spaces);
      return models.encodeIngest(kind, inputs, options, spaces);
    },
    admitIngest: () => current.admitIngest(),
  };
}
