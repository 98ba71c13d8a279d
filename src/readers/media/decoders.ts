import { Codec, type Stream } from 'node-av/lib';

/**
 * The decoders of FFmpeg that may run, by its names: of what cameras, telephones, browsers and editors write or have written. FFmpeg has
 * five hundred and fifty, many of them for single games of the nineties, and each reads what strangers send.
 */
const DECODERS = [
  // Films.
  ...['h264', 'hevc', 'libdav1d', 'vp8', 'vp9', 'theora'],
  ...['mpeg1video', 'mpeg2video', 'mpeg4', 'h263', 'msmpeg4v2', 'msmpeg4', 'wmv1', 'wmv2', 'wmv3', 'vc1'],
  ...[
    'mjpeg',
    'dvvideo',
    'prores',
    'dnxhd',
    'ffv1',
    'huffyuv',
    'ffvhuff',
    'utvideo',
    'png',
    'qtrle',
    'rawvideo',
  ],
  ...['cinepak', 'svq1', 'svq3'],
  // Sounds.
  ...['aac', 'mp3float', 'mp2', 'opus', 'vorbis', 'speex', 'flac', 'alac', 'ac3', 'eac3', 'dca', 'truehd'],
  ...['wmav1', 'wmav2', 'amrnb', 'amrwb', 'gsm', 'gsm_ms', 'adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt'],
  ...['pcm_u8', 'pcm_s8', 'pcm_alaw', 'pcm_mulaw', 'pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'pcm_s24be'],
  ...['pcm_s32le', 'pcm_s32be', 'pcm_f32le', 'pcm_f32be', 'pcm_f64le', 'pcm_f64be'],
];

/** As FFmpeg's option takes them: it decodes a little itself as it opens a file. */
export const DECODERS_ALLOWED = DECODERS.join(',');

/** What decodes a stream; undefined where nothing may. */
export function decoderOf({ codecpar }: Stream): Codec | undefined {
  const codec = Codec.findDecoder(codecpar.codecId);
  return codec?.name && DECODERS.includes(codec.name) ? codec : undefined;
}
