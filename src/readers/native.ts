import { native as addon } from '@farthing/native';

/** The native functions that readers use. */
export type ReadersNative = Pick<
  typeof addon,
  'confine' | 'forbidRings' | 'guessCharset' | 'pictureFingerprint' | 'returnFreeMemory'
>;

export const native: ReadersNative = addon;
