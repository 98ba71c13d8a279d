import { existsSync, readdirSync } from 'node:fs';
import type { Engine, Provider } from './manifest.ts';

/**
 * `auto`: the fastest provider with the right numbers. Any other: this provider or none. `native` runs texts alone, and leaves
 * other inputs to `cpu`.
 */
export type ProviderChoice = 'auto' | Engine;

/** Why a provider need not be tried here, by cheap signs: a laptop's start must not wait for drivers. */
export function deviceRefusal(provider: Provider, choice: ProviderChoice): string | undefined {
  const wanted = choice === 'native' ? 'cpu' : choice;
  if (wanted !== 'auto' && wanted !== provider) return `only ${choice} was asked for`;
  // A configured provider is tried anyway: its failure is the reason.
  if (choice !== 'auto' || provider === 'cpu') return undefined;
  // WSL shows every GPU as /dev/dxg.
  const nvidia = existsSync('/dev/nvidiactl') || existsSync('/dev/dxg');
  if (provider === 'cuda') return nvidia ? undefined : 'there is no NVIDIA device';
  return nvidia || hasRenderNode() ? undefined : 'there is no GPU device';
}

function hasRenderNode(): boolean {
  try {
    return readdirSync('/dev/dri').some((name) => name.startsWith('renderD'));
  } catch {
    return false;
  }
}
