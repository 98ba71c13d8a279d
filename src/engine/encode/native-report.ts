import { resolve } from 'node:path';
import type { ProviderChoice } from './models/device.ts';
import { findInstalled } from './models/installed.ts';
import { withNative } from './models/native-weights.ts';
import { readManifest } from './models/read-manifest.ts';
import { Verification } from './models/verification.ts';
import { NativeTextRunner } from './text/native-text-runner.ts';

/** Whether the native encoder runs a text model in use. */
export interface NativeReport {
  readonly model: string;
  /** Why it does not; absent where it does. */
  readonly refusal?: string;
}

/**
 * The text models in use with weights for the processor.
 * @param choice `cpu` and the providers of GPUs leave nothing to the native encoder
 */
export async function reportNative(
  modelsFolder: string,
  cacheFolder: string,
  choice: ProviderChoice,
): Promise<readonly NativeReport[]> {
  const folder = resolve(modelsFolder);
  const verification = await Verification.open(folder, cacheFolder);
  const { towers } = await findInstalled(await readManifest(folder), folder, verification, 'cpu');
  const reports: NativeReport[] = [];
  for (const tower of withNative(towers, choice)) {
    const candidate = tower.candidates.find(({ provider }) => provider === 'native');
    if (tower.kind !== 'text' || !candidate) continue;
    const opened = await NativeTextRunner.open(tower, candidate).catch((error: Error) => error);
    const refusal = opened instanceof Error ? opened.message : undefined;
    reports.push({ model: tower.model, ...(refusal !== undefined && { refusal }) });
  }
  return reports;
}
