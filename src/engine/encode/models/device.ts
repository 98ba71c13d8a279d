import { existsSync } from 'node:fs';
import type { Engine, Provider } from './manifest.ts';

/**
 * `auto`: CUDA where it serves with the right numbers, otherwise the processor. Any other: this provider or none. `native` runs
 * texts alone, and leaves other inputs to `cpu`.
 */
export type ProviderChoice = 'auto' | Engine;

/** Why a provider need not be tried here, by cheap signs: a laptop's start must not wait for drivers. */
export function deviceRefusal(provider: Provider, choice: ProviderChoice): string | undefined {
  const wanted = choice === 'native' ? 'cpu' : choice;
  if (wanted !== 'auto' && wanted !== provider) return `only ${choice} was asked for`;
  // A configured provider is tried anyway: its failure is the reason.
  if (choice !== 'auto' || provider === 'cpu') return undefined;
  // A GPU may be slower than its processor, and may be emulated in software: it is used only if configured.
  if (provider === 'webgpu') return 'it is used with FARTHING_PROVIDER=webgpu alone';
  // WSL shows every GPU as /dev/dxg.
  const nvidia = existsSync('/dev/nvidiactl') || existsSync('/dev/dxg');
  return nvidia ? undefined : 'there is no NVIDIA device';
}
