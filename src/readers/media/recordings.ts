/** A format of films and sounds. */
export interface RecordingType {
  readonly mediaType: string;
  readonly name: string;
  readonly kind: 'video' | 'audio';
  /** The only demuxers of FFmpeg that may read it. */
  readonly demuxers: string;
  /** What file-type calls it, beside the media type. */
  readonly synonyms?: readonly string[];
}

const MP4 = 'mov,mp4,m4a,3gp,3g2,mj2';
const MATROSKA = 'matroska,webm';

export const RECORDING_TYPES: readonly RecordingType[] = [
  { mediaType: 'video/mp4', name: 'MP4', kind: 'video', demuxers: MP4, synonyms: ['video/x-m4v'] },
  { mediaType: 'video/quicktime', name: 'MOV', kind: 'video', demuxers: MP4 },
  { mediaType: 'video/webm', name: 'WebM', kind: 'video', demuxers: MATROSKA },
  {
    mediaType: 'video/matroska',
    name: 'MKV',
    kind: 'video',
    demuxers: MATROSKA,
    synonyms: ['video/x-matroska'],
  },
  { mediaType: 'video/vnd.avi', name: 'AVI', kind: 'video', demuxers: 'avi', synonyms: ['video/avi'] },
  {
    mediaType: 'audio/wav',
    name: 'WAV',
    kind: 'audio',
    demuxers: 'wav',
    synonyms: ['audio/vnd.wave', 'audio/x-wav'],
  },
  { mediaType: 'audio/mpeg', name: 'MP3', kind: 'audio', demuxers: 'mp3' },
  { mediaType: 'audio/flac', name: 'FLAC', kind: 'audio', demuxers: 'flac', synonyms: ['audio/x-flac'] },
  {
    mediaType: 'audio/ogg',
    name: 'OGG, Opus',
    kind: 'audio',
    demuxers: 'ogg',
    synonyms: ['audio/opus', 'audio/ogg; codecs=opus'],
  },
  { mediaType: 'video/3gpp', name: '3GP', kind: 'video', demuxers: MP4, synonyms: ['video/3gpp2'] },
  { mediaType: 'audio/aiff', name: 'AIFF', kind: 'audio', demuxers: 'aiff' },
  { mediaType: 'audio/amr', name: 'AMR', kind: 'audio', demuxers: 'amr' },
  { mediaType: 'video/x-ms-asf', name: 'WMV', kind: 'video', demuxers: 'asf' },
  { mediaType: 'audio/x-ms-asf', name: 'WMA', kind: 'audio', demuxers: 'asf' },
  { mediaType: 'audio/mp4', name: 'M4A', kind: 'audio', demuxers: MP4, synonyms: ['audio/x-m4a'] },
];

/** For people. */
export const RECORDING_NAMES = RECORDING_TYPES.map(({ name }) => name).join(', ');

/**
 * The type of a recording that was opened before; undefined for anything else. A film without pictures is called
 * `audio/…` by then: `audio/webm` is a `video/webm`.
 */
export function recordingType(mediaType: string): RecordingType | undefined {
  const find = (name: string) => RECORDING_TYPES.find((type) => type.mediaType === name);
  return find(mediaType) ?? find(mediaType.replace(/^audio\//, 'video/'));
}
