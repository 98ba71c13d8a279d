import { listFiles } from '../files/listing.ts';
import { fetchSamples } from '../files/samples.ts';
import { addFiles } from '../files/upload.ts';
import { readPast } from '../search/past.ts';
import { openAddress } from '../search/search.ts';
import { attempt } from '../server/attempt.ts';
import { farthing } from '../server/client.ts';
import { refreshUsage } from '../server/usage.ts';
import { session } from '../state/session.ts';
import { keptEnded, keptReceipt, keptWorkspace } from '../state/storage.ts';
import { takeWalletAtStart } from '../wallet/choose.ts';
import { rentWorkspace } from './workspace.ts';

/** Draws what an earlier visit left, then reads what the server offers and has. */
export async function begin(): Promise<void> {
  session.set({ opened: keptWorkspace.read(), ended: keptEnded.read(), ...keptReceipt.read() });
  window.addEventListener('popstate', () => void openAddress());
  // Side by side: none of them waits for another's answer.
  await Promise.all([attempt(undefined, readFacts), resume()]);
}

async function readFacts(): Promise<void> {
  session.set({ facts: await farthing().ready() });
  await takeWalletAtStart();
}

async function resume(): Promise<void> {
  await openAddress();
  if (!session.value.opened) return;
  await attempt(undefined, refreshUsage);
  if (session.value.opened)
    await attempt(undefined, async () => void (await Promise.all([listFiles(), readPast()])));
}

const SAMPLE_MINUTES = 15;

/** The shortest way in: a workspace where none is open, on the terms that are shown, with files that show what is found. */
export async function trySamples(minutes = SAMPLE_MINUTES, spendLimit = ''): Promise<void> {
  let samples: File[] = [];
  await attempt('Fetching the samples', async () => {
    samples = await fetchSamples();
  });
  if (samples.length === 0) return;
  if (session.value.opened) return addFiles(samples);
  session.set({ filesWaiting: [...session.value.filesWaiting, ...samples] });
  await rentWorkspace(minutes, spendLimit);
}
