import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Kennedy's "ask not" of 20 January 1961, 11 seconds. */
export const RECORDING = resolve(import.meta.dirname, '../../../../../shared/data/samples/audio/jfk.flac');
/** Its second half, and the second at which the speaker begins it. */
export const SENTENCE = { words: 'ask what you can do for your country', from: 7.5, to: 8.6 } as const;

/** Why a test of it does not run; false where it does. */
export const withoutRecording: string | false = !existsSync(RECORDING) && 'the shared recording is not here';
