import type { IndexModels, IndexSpaces } from '@farthing/engine/encode/index-models';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { Owners } from '@farthing/queues/owners';
import type { ModelChanges } from '../ingest/model-changes.ts';
import type { IngestEncoder } from '../ingest/ports/ports.ts';

/**
 * Encodes for ingests, each index by its own models. The first text of an index decides on its text model, unless its owner has said what
 * language the texts are in.
 * @param languageOf ISO 639-3
 * @param changes told which texts come to an index; absent: every index keeps the model that its first text had
 */
export function ingestEncoder(
  models: IndexModels,
  tenants: Tenants,
  owners: Owners,
  languageOf: (tenant: string) => string | undefined,
  changes?: Pick<ModelChanges, 'comes'>,
): IngestEncoder {
  const { current } = models;
  // A new index will use the current models.
  const indexOf = async (tenant: string): Promise<IndexSpaces> => {
    const spaces = await tenants.useIfThere(tenant, (shard) => shard.spaces);
    return { tenant, spaces: spaces ?? current.spaces };
  };
  const indexFor = async (tenant: string, texts: readonly string[]): Promise<IndexSpaces> => {
    if (texts.length > 0)
      await tenants.begin(tenant, () => models.spacesBeginningWith(tenant, texts, languageOf(tenant)));
    return indexOf(tenant);
  };
  // The queue is fair among owners.
  const ofOwner = <O extends { readonly tenant: string }>(options: O): O => ({
    ...options,
    tenant: owners.of(options.tenant),
  });
  return {
    pictureSpec: async (tenant) => models.pictureSpec(await indexOf(tenant)),
    cutPassages: async (document, options) => {
      const texts = document.blocks.map(({ text }) => text);
      const index = await indexFor(options.tenant, texts);
      changes?.comes(options.tenant, texts, index.spaces);
      return models.cutPassages(document, ofOwner(options), index);
    },
    encodeIngest: async (kind, inputs, options) => {
      const texts = kind === 'text' ? (inputs as readonly string[]) : [];
      return models.encodeIngest(kind, inputs, ofOwner(options), await indexFor(options.tenant, texts));
    },
    admitIngest: (tenant) => current.admitIngest(ofOwner({ tenant })),
  };
}
