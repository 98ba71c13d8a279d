import { resolve } from 'node:path';
import { native } from '../native/index.ts';
import type { ProviderChoice } from './models/device.ts';
import { findInstalled } from './models/installed.ts';
import { comparisonName, readComparisons } from './models/kept-comparisons.ts';
import { withNative } from './models/native-weights.ts';
import { readManifest } from './models/read-manifest.ts';
import { Verification } from './models/verification.ts';
import { NativeTextRunner } from './text/native-text-runner.ts';

/** What the native encoder does with a text model in use. */
export interface NativeReport {
  readonly model: string;
  /** `unmeasured`: it runs the model, and the next start compares it with ONNX Runtime. */
  readonly state: 'serves' | 'slower' | 'unmeasured' | 'refused';
  /** Times, or why it does not run the model. */
  readonly reason: string;
}

/**
 * The text models in use with weights for the processor, each with what runs it there and why.
 * @param choice `cpu` and the providers of GPUs leave nothing to the native encoder
 */
export async function reportNative(
  modelsFolder: string,
  cacheFolder: string,
  choice: ProviderChoice,
): Promise<readonly NativeReport[]> {
  const folder = resolve(modelsFolder);
  const manifest = await readManifest(folder);
  const verification = await Verification.open(folder, cacheFolder);
  const { towers } = await findInstalled(manifest, folder, verification, 'cpu');
  const kept = await readComparisons(cacheFolder);
  const reports: NativeReport[] = [];
  for (const tower of withNative(towers, choice)) {
    const candidate = tower.candidates.find(({ provider }) => provider === 'native');
    if (tower.kind !== 'text' || !candidate) continue;
    const { model } = tower;
    const refusal = await NativeTextRunner.open(tower, candidate).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (refusal !== undefined) {
      reports.push({ model, state: 'refused', reason: refusal });
      continue;
    }
    const comparison = kept[comparisonName(tower) ?? ''];
    const measured = comparison?.serves === 'native' ? 'serves' : 'slower';
    reports.push({
      model,
      state: choice === 'native' ? 'serves' : comparison ? measured : 'unmeasured',
      reason: `${native.encoderKernelName()}${comparison?.reason ? `; ${comparison.reason}` : ''}`,
    });
  }
  return reports;
}
