import { existsSync, readdirSync } from 'node:fs';
import type { Provider } from './manifest.ts';

/** `auto`: the fastest that gives the right numbers. Any other: that one or none. */
export type ProviderChoice = 'auto' | Provider;

/** Why a provider need not be tried on this machine: cheap signs, so that a laptop's start doesn't wait for drivers. */
export function deviceRefusal(provider: Provider, choice: ProviderChoice): string | undefined {
  if (choice !== 'auto' && choice !== provider) return `only ${choice} was asked for`;
  // Forced: it is tried, and its own failure is the reason.
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
