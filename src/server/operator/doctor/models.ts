import { join, resolve } from 'node:path';
import { deviceRefusal } from '@farthing/engine/encode/models/device';
import type { LibraryModel } from '@farthing/engine/encode/models/library';
import { PROVIDERS, type Provider } from '@farthing/engine/encode/models/manifest';
import { lacksOf } from '@farthing/engine/encode/models/readiness';
import { reportNative } from '@farthing/engine/encode/native-report';
import { native } from '@farthing/native';
import type { Finding } from '@farthing/protocol/schema/operator';
import type { PreviousModel } from '@farthing/protocol/schema/service';
import type { Settings } from '../../settings/settings.ts';
import { libraryOf } from '../commands/models.ts';
import { ok, problem, warning } from '../finding.ts';

/** The models in use and their files. */
export async function models(settings: Settings): Promise<Finding[]> {
  const all = await libraryOf(settings).models();
  const used = all.filter((model) => model.used);
  if (used.length === 0)
    return [
      warning(
        'models',
        'none is in use',
        'farthing admin models use NAME; without one, only words are searched.',
      ),
    ];
  const others = all.filter((model) => model.forOtherLanguages).map(otherLanguagesFinding);
  const findings = used.map(({ name, installed, files, family, measured }) => {
    const refused = files.flatMap(({ refusal, wrong }) => (refusal && (wrong || !installed) ? refusal : []));
    if (refused.length === 0 && !measured)
      return warning(
        `model ${name}`,
        `${family}; its confidence was never measured and stays low`,
        'Fit it with make bench NAME=calibration, or choose a model of the manifest that has curves.',
      );
    return refused.length === 0
      ? ok(
          `model ${name}`,
          `${family}; checksums were right when last hashed (farthing admin models verify hashes again)`,
        )
      : problem(
          `model ${name}`,
          refused.join('; '),
          `farthing admin models pull ${name}, or restore the file.`,
        );
  });
  return [...findings, ...others];
}

function otherLanguagesFinding({ name, installed }: LibraryModel): Finding {
  return installed
    ? ok(`model ${name}`, 'texts of indexes that begin in a language which the model in use does not know')
    : warning(
        `model ${name}`,
        'not here: indexes in other languages have the model in use, which does not know them',
        `farthing admin models pull ${name}, or restore the file.`,
      );
}

/** A provider that may run the models: its device, its library and its weights. */
export async function providers(settings: Settings, refusalOf = deviceRefusal): Promise<Finding[]> {
  const known = await libraryOf(settings).models();
  return PROVIDERS.map((provider) => providerFinding(provider, settings.PROVIDER, known, refusalOf));
}

/** Whether the native encoder or ONNX Runtime runs texts on the processor, and why. */
export async function nativeEncoder(settings: Settings): Promise<Finding[]> {
  const { PROVIDER, MODELS_DIR, CACHE_DIR, DATA_DIR } = settings;
  const check = 'native encoder';
  const reports = await reportNative(MODELS_DIR, resolve(CACHE_DIR || join(DATA_DIR, 'cache')), PROVIDER);
  if (reports.length === 0) return [ok(check, `not used: FARTHING_PROVIDER=${PROVIDER}, or no text model`)];
  return reports.map(({ model, refusal }) => {
    if (refusal === undefined)
      return nativeRuns(model, native.encoderKernelName(), native.encoderTilesRefused());
    return PROVIDER === 'native'
      ? problem(check, `cannot run ${model}: ${refusal}`, 'Set FARTHING_PROVIDER=auto.')
      : ok(check, `ONNX Runtime runs ${model}: ${refusal}`);
  });
}

/** @param tilesRefused why the system refuses the processor's AMX tiles; null where it does not, or there are none */
export function nativeRuns(model: string, kernel: string, tilesRefused: string | null): Finding {
  const runs = `runs ${model} (${kernel})`;
  return tilesRefused === null
    ? ok('native encoder', runs)
    : warning(
        'native encoder',
        `${runs}; the system refuses the processor's AMX tiles: ${tilesRefused}`,
        'Let the process call arch_prctl (a container may forbid it): texts would take about two thirds of the time.',
      );
}

/** Models whose files must stay. */
export function previous(all: readonly PreviousModel[]): Finding[] {
  if (all.length === 0) return [ok('previous models', 'none: no index has another than those in use')];
  return all.map(({ space, weights, until }) =>
    ok('previous model', `${weights} filled ${space} of indexes that live until ${until}: keep its files`),
  );
}

function providerFinding(
  provider: Provider,
  configured: Settings['PROVIDER'],
  known: readonly LibraryModel[],
  refusalOf: typeof deviceRefusal,
): Finding {
  const check = `provider ${provider}`;
  const wanted = configured === 'native' ? 'cpu' : configured;
  if (wanted !== 'auto' && wanted !== provider) return ok(check, `not used: FARTHING_PROVIDER=${configured}`);
  const forced = wanted === provider;
  // CUDA shows whether there is a device; WebGPU has no cheap sign of one.
  const refusal = refusalOf(provider, provider === 'webgpu' ? wanted : 'auto');
  if (refusal !== undefined)
    return forced
      ? problem(
          check,
          `FARTHING_PROVIDER=${provider}, but ${refusal}`,
          'Install the driver, or set FARTHING_PROVIDER=auto.',
        )
      : ok(check, `not used: ${refusal}`);
  const lacks = lacksOf(provider, known);
  // Missing weights for the processor are a finding of their model.
  if (lacks.length === 0 || provider === 'cpu') return ok(check, 'may serve; tried at the start');
  const found = `there is a device, but ${lacks.map(({ what }) => what).join('; ')}`;
  const remedy = lacks.map(({ command }) => command).join('; ');
  return forced ? problem(check, found, remedy) : warning(check, found, remedy);
}
