import type { Owners } from '../domain/sharing/owners.ts';
import type { IndexModels, IndexSpaces } from '../encode/index-models.ts';
import type { IngestEncoder } from '../ingest/ports/ports.ts';
import type { Tenants } from '../shard/tenants.ts';

/** Encodes for ingests, each index by its own models. */
export function ingestEncoder(models: IndexModels, tenants: Tenants, owners: Owners): IngestEncoder {
  const { current } = models;
  // An index that is not there yet will have the models in use.
  const indexOf = async (tenant: string): Promise<IndexSpaces> => {
    const spaces = await tenants.useIfThere(tenant, (shard) => shard.spaces);
    return { tenant, spaces: spaces ?? current.spaces };
  };
  // Owners take turns.
  const ofOwner = <O extends { readonly tenant: string }>(options: O): O => ({
    ...options,
    tenant: owners.of(options.tenant),
  });
  return {
    pictureSpec: async (tenant) => models.pictureSpec(await indexOf(tenant)),
    cutPassages: async (document, options) =>
      models.cutPassages(document, ofOwner(options), await indexOf(options.tenant)),
    encodeIngest: async (kind, inputs, options) =>
      models.encodeIngest(kind, inputs, ofOwner(options), await indexOf(options.tenant)),
    admitIngest: (tenant) => current.admitIngest(ofOwner({ tenant })),
  };
}
