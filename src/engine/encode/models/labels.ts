import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LabelBridge, type PictureTower, type Towers, textTowerOf } from './tower.ts';

/** Identity of a bridge's vectors: both models, the labels, and how they are weighed. */
export function bridgeSha256(towers: Towers, { candidates }: PictureTower, bridge: LabelBridge): string {
  const parts = [candidates[0]!.sha256, labelTableName(towers, bridge), bridge.weight, bridge.top];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Name of the file with the labels' embeddings: it differs by text model, list and template. */
function labelTableName(towers: Towers, { textModel, labelsSha256, template }: LabelBridge): string {
  const parts = [textTowerOf(towers, textModel)!.candidates[0]!.sha256, labelsSha256, template];
  return `labels-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}.f32`;
}

/**
 * Fills the table that all workers share with the labels' embeddings from the cache folder.
 * @returns false when the cache has none
 */
export async function readLabels(
  towers: Towers,
  bridge: LabelBridge,
  table: Float32Array,
  cacheFolder: string,
): Promise<boolean> {
  const kept = await readFile(join(cacheFolder, labelTableName(towers, bridge))).catch(() => undefined);
  if (kept?.byteLength !== table.byteLength) return false;
  new Uint8Array(table.buffer, table.byteOffset, table.byteLength).set(kept);
  for (const value of table) if (!Number.isFinite(value)) return false;
  return true;
}

/** Fills the table by the text model, and keeps it for the next start. */
export async function embedLabels(
  towers: Towers,
  bridge: LabelBridge,
  table: Float32Array,
  cacheFolder: string,
  encode: (texts: readonly string[]) => Promise<Float32Array[]>,
): Promise<void> {
  const rows = await encode(bridge.labels.map((label) => bridge.template.replace('{label}', () => label)));
  for (const [index, row] of rows.entries()) table.set(row, index * bridge.dimensions);
  await mkdir(cacheFolder, { recursive: true });
  const path = join(cacheFolder, labelTableName(towers, bridge));
  const written = `${path}.${randomUUID()}.new`;
  await writeFile(written, new Uint8Array(table.slice().buffer));
  await rename(written, path);
}
