import type { ModelVersions } from '../encode/model-versions.ts';
import type { IngestEncoder } from '../ingest/deps.ts';
import type { Tenants } from '../shard/tenants.ts';

/** Encodes for ingests: an index that a previous model still serves gets that model's vectors, too. */
export function ingestEncoder(encoders: ModelVersions, tenants: Tenants): IngestEncoder {
  const encoder = encoders.current;
  const formersOf = (tenant: string) =>
    tenants.use(tenant, {}, (shard) => {
      const snapshot = shard.snapshot();
      try {
        return snapshot.formers();
      } finally {
        snapshot.close();
      }
    });
  return {
    pictureSpec: encoder.pictureSpec,
    cutPassages: (document, options) => encoder.cutPassages(document, options),
    encodePassages: async (texts, options) =>
      encoders.encodePassages(texts, options, await formersOf(options.tenant)),
    encodePictures: async (pictures, options) =>
      encoders.encodePictures(pictures, options, await formersOf(options.tenant)),
    admitIngest: () => encoder.admitIngest(),
  };
}
