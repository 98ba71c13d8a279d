import type { Finding, HourPoint, Snapshot } from '@farthing/protocol/schema/operator';
import { Store } from '../state/store.ts';

export interface Watch {
  readonly snapshot?: Snapshot;
  readonly findings?: readonly Finding[];
  /** The last hour, oldest first, as the server kept it. */
  readonly points: readonly HourPoint[];
  readonly fault?: string;
}

const POLL_MS = 2_000;
/** Every five minutes: the doctor examines the host, which seldom changes. */
const DOCTOR_ROUNDS = 150;

export const watch = new Store<Watch>({ points: [] });

/** Polls while the page is visible. */
export async function keepWatching(): Promise<void> {
  for (let round = 0; ; round++) {
    if (document.visibilityState === 'visible') await look();
    if (round % DOCTOR_ROUNDS === 0) void askDoctor();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(path, { cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return (await response.json()) as T;
}

async function askDoctor(): Promise<void> {
  const answer = await ask<{ findings: readonly Finding[] }>('/doctor.json').catch(() => undefined);
  if (answer) watch.set({ findings: answer.findings });
}

async function look(): Promise<void> {
  try {
    const [snapshot, { points }] = await Promise.all([
      ask<Snapshot>('/snapshot.json'),
      ask<{ points: readonly HourPoint[] }>('/hour.json'),
    ]);
    watch.set({ snapshot, points, fault: undefined });
  } catch (error) {
    watch.set({ fault: error instanceof Error ? error.message : String(error) });
  }
}
