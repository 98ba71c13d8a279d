import { SOUND_RATE } from '@farthing/protocol/document';
import { broken } from './collector.ts';
import type { ReaderTask } from './pooled-reader.ts';
import type { ReaderPool } from './reader-pool.ts';

/** What a listener may take of a reader while others' recordings wait: speech is transcribed in a tenth of its time. */
export const TURN_MS = 30_000;
/** Recordings are often a little longer than their header says. */
const SPARE_SECONDS = 60;

/** A recording whose sound is wanted. */
export interface Recording extends Pick<ReaderTask, 'secondsMax' | 'processorSecondsMax' | 'signal'> {
  readonly path: string;
  readonly mediaType: string;
  readonly owner: string;
  /** More sound is refused. */
  readonly mediaSecondsMax: number;
  /** Gets the sound, piece after piece: 16-bit samples, SOUND_RATE a second. The reader waits for each promise. */
  readonly onSound: (samples: Int16Array) => Promise<void>;
  /** Called with the seconds that have been heard. */
  readonly onHeard: (seconds: number) => void;
}

/**
 * Gives a listener the sound of a recording. A listener may take minutes; when its turn is over and other owners' recordings wait, the
 * reader is theirs, and this recording continues where it stopped once it is its owner's turn again.
 * @param turnMs of the clock
 * @throws what the reader or the listener throws; the signal's reason
 */
export async function listen(pool: ReaderPool, recording: Recording, turnMs = TURN_MS): Promise<void> {
  const { path, mediaType, owner, signal, onSound, onHeard, mediaSecondsMax, ...limits } = recording;
  const samplesMax = (mediaSecondsMax + SPARE_SECONDS) * SOUND_RATE;
  let samples = 0;
  let last: Promise<void> = Promise.resolve();
  for (;;) {
    const turn = new AbortController();
    let endsAt: number | undefined;
    try {
      await pool.run(owner, {
        ...limits,
        task: { task: 'listen', path, mediaType, from: samples },
        file: path,
        signal: signal ? AbortSignal.any([signal, turn.signal]) : turn.signal,
        onReply: (reply) => {
          if (reply.reply !== 'sound') throw broken();
          samples += reply.samples.length;
          if (samples > samplesMax) throw broken();
          last = last.then(() => onSound(reply.samples)).then(() => onHeard(samples / SOUND_RATE));
          endsAt ??= performance.now() + turnMs;
          if (performance.now() >= endsAt && pool.othersWait(owner)) turn.abort();
          return last;
        },
      });
      return await last;
    } catch (error) {
      // The rest of the turn is heard first, whatever ended it.
      await last;
      if (!turn.signal.aborted || signal?.aborted) throw error;
    }
  }
}
