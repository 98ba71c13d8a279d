import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const MODELS = resolve(import.meta.dirname, '../../../models');
const MODEL = 'whisper-base';

/** Kennedy's "ask not" of 20 January 1961, 11 seconds. */
export const RECORDING = resolve(import.meta.dirname, '../../../../shared/data/samples/audio/jfk.flac');
/** Its second half, and the second at which the speaker begins it. */
export const SENTENCE = { words: 'ask what you can do for your country', from: 7.5, to: 8.6 } as const;

/** Why a test of transcripts does not run; false where it does. */
export const withoutSpeech: string | false = !existsSync(join(MODELS, MODEL, 'decoder_int8.onnx'))
  ? `${MODEL} is not here: npx farthing admin models pull ${MODEL}`
  : existsSync(RECORDING)
    ? false
    : 'the shared recording is not here';

/** A folder with the embedded models and, in use, the one of speech. @returns it */
export function modelsWithSpeech(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const { name } of readdirSync(MODELS, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    symlinkSync(join(MODELS, name), join(folder, name));
  const manifest = JSON.parse(readFileSync(join(MODELS, 'manifest.json'), 'utf8'));
  manifest.use.speech = MODEL;
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}
