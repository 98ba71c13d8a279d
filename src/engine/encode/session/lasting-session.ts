import type { Candidate } from '../models/tower.ts';
import { openSession, type Session } from './session.ts';

/** A session that outlives its device. */
export interface LastingSession extends Session {
  /** Why the provider no longer serves; undefined while it does. */
  readonly loss: string | undefined;
}

/**
 * Opens a candidate. If its provider fails in a run that succeeds on the processor with the same weights, the provider is
 * lost: the processor takes over, slower, with the same numbers. If both fail, the input is at fault and the provider stays.
 */
export async function openLasting(
  candidate: Candidate,
  open: (candidate: Candidate) => Promise<Session> = openSession,
): Promise<LastingSession> {
  let session = await open(candidate);
  let loss: string | undefined;
  return {
    get loss() {
      return loss;
    },
    async run(feeds, outputs) {
      try {
        return await session.run(feeds, outputs);
      } catch (error) {
        if (candidate.provider === 'cpu' || loss !== undefined) throw error;
        const processor = await open({ ...candidate, provider: 'cpu', providerOptions: undefined });
        const found = await processor.run(feeds, outputs).catch(async () => {
          await processor.close();
          throw error;
        });
        loss = error instanceof Error ? error.message : String(error);
        // Closing the session of a lost device may fail, too.
        await session.close().catch(() => {});
        session = processor;
        return found;
      }
    },
    close: () => session.close(),
  };
}
