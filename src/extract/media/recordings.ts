/** What carries pictures or sound: the kind that it mostly is, and the FFmpeg demuxers that may read it. */
export interface MediaFormat {
  readonly mediaType: string;
  readonly kind: 'video' | 'audio';
  readonly demuxers: string;
}

const MP4 = 'mov,mp4,m4a,3gp,3g2,mj2';
const MATROSKA = 'matroska,webm';

const FORMATS: readonly MediaFormat[] = [
  { mediaType: 'video/mp4', kind: 'video', demuxers: MP4 },
  { mediaType: 'video/quicktime', kind: 'video', demuxers: MP4 },
  { mediaType: 'video/webm', kind: 'video', demuxers: MATROSKA },
  { mediaType: 'video/matroska', kind: 'video', demuxers: MATROSKA },
  { mediaType: 'video/vnd.avi', kind: 'video', demuxers: 'avi' },
  { mediaType: 'audio/wav', kind: 'audio', demuxers: 'wav' },
  { mediaType: 'audio/mpeg', kind: 'audio', demuxers: 'mp3' },
  { mediaType: 'audio/flac', kind: 'audio', demuxers: 'flac' },
  { mediaType: 'audio/ogg', kind: 'audio', demuxers: 'ogg' },
  { mediaType: 'audio/mp4', kind: 'audio', demuxers: MP4 },
];

/** Other names of the same, as recognisers give them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'video/x-m4v': 'video/mp4',
  'video/x-matroska': 'video/matroska',
  'video/avi': 'video/vnd.avi',
  'audio/x-m4a': 'audio/mp4',
  'audio/x-flac': 'audio/flac',
  'audio/opus': 'audio/ogg',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
};

export function mediaFormat(mediaType: string): MediaFormat | undefined {
  const type = SYNONYMS[mediaType] ?? mediaType;
  return FORMATS.find((format) => format.mediaType === type);
}
