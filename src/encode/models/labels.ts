import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LabelBridge, Towers } from './tower.ts';

/** Identity of the vectors that a label bridge gives: of both models, the labels, and how they are weighed. */
export function bridgeSha256(towers: Towers): string | undefined {
  const { picture } = towers;
  if (!picture?.bridge) return undefined;
  const { weight, top } = picture.bridge;
  const parts = [picture.candidates[0]!.sha256, labelTableName(towers, picture.bridge), weight, top];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Name of the file with the labels' embeddings: another text model, list or template has another. */
function labelTableName({ texts }: Towers, { text, labelsSha256, template }: LabelBridge): string {
  const parts = [texts[text]!.candidates[0]!.sha256, labelsSha256, template];
  return `labels-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}.f32`;
}

/** Fills the table that all workers share with the embeddings of the labels from the cache folder. @returns false when they are not there */
export async function readLabels(towers: Towers, table: Float32Array, cacheFolder: string): Promise<boolean> {
  const bridge = towers.picture?.bridge;
  if (!bridge) return true;
  const kept = await readFile(join(cacheFolder, labelTableName(towers, bridge))).catch(() => undefined);
  if (kept?.byteLength !== table.byteLength) return false;
  new Uint8Array(table.buffer, table.byteOffset, table.byteLength).set(kept);
  for (const value of table) if (!Number.isFinite(value)) return false;
  return true;
}

/** Fills the table by the text model, once: the next start reads it. */
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
