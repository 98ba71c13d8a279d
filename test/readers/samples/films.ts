import {
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_PCM_S16LE,
  AV_CODEC_ID_SUBRIP,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_PIX_FMT_YUVJ420P,
  AV_PKT_DATA_DISPLAYMATRIX,
  AV_PKT_FLAG_KEY,
  AV_SAMPLE_FMT_S16,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_SUBTITLE,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants';
import { FormatContext, Packet, Rational, type Stream } from 'node-av/lib';

/** A packet at a millisecond of its stream. */
export interface At {
  readonly ms: number;
  readonly data: Buffer;
  readonly lasts?: number;
}

/** Rate of the sound of `writeFilm`, which has one channel of 16 bits. */
export const FILM_SOUND_RATE = 16_000;

/**
 * Writes a film of JPEG pictures, plain samples and cues (Matroska alone), packet by packet at the given times. Without
 * frames it has no pictures.
 */
export function writeFilm(
  path: string,
  format: 'mov' | 'mp4' | 'matroska',
  film: {
    readonly width: number;
    readonly height: number;
    readonly frames: readonly At[];
    readonly sound?: readonly At[];
    readonly cues?: readonly At[];
    /** A JPEG of the film's size (MP4 alone). */
    readonly cover?: Buffer;
    /** Nine numbers of 32 bits, as in ISO/IEC 14496-12. */
    readonly matrix?: readonly number[];
  },
): void {
  const context = new FormatContext();
  const check = (status: number): void => {
    if (status < 0) throw new Error(`the film cannot be written: ${status}`);
  };
  check(context.allocOutputContext2(null, format, path));
  const add = (type: number, codec: number): Stream => {
    const stream = context.newStream();
    stream.codecpar.codecType = type as never;
    stream.codecpar.codecId = codec as never;
    stream.timeBase = new Rational(1, 1000);
    return stream;
  };
  const streams: [Stream, readonly At[]][] = [];
  if (film.frames.length > 0) {
    const video = add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_MJPEG);
    Object.assign(video.codecpar, { width: film.width, height: film.height, format: AV_PIX_FMT_YUVJ420P });
    if (film.matrix) {
      const bytes = Buffer.alloc(36);
      for (const [index, value] of film.matrix.entries()) bytes.writeInt32LE(value, index * 4);
      check(video.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, bytes));
    }
    streams.push([video, film.frames]);
  }
  if (film.sound) {
    const sound = add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_PCM_S16LE);
    const channelLayout = { nbChannels: 1, order: 1, mask: 4n };
    Object.assign(sound.codecpar, { sampleRate: FILM_SOUND_RATE, format: AV_SAMPLE_FMT_S16, channelLayout });
    streams.push([sound, film.sound]);
  }
  if (film.cover) {
    const cover = add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_MJPEG);
    Object.assign(cover.codecpar, { width: film.width, height: film.height, format: AV_PIX_FMT_YUVJ420P });
    cover.disposition = AV_DISPOSITION_ATTACHED_PIC;
    streams.push([cover, [{ ms: 0, data: film.cover }]]);
  }
  if (film.cues) streams.push([add(AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_SUBRIP), film.cues]);
  check(context.openOutputSync());
  check(context.writeHeaderSync());
  const all = streams.flatMap(([stream, packets]) => packets.map((packet) => ({ stream, ...packet })));
  for (const { stream, ms, data, lasts = 0 } of all.sort((a, b) => a.ms - b.ms)) {
    const packet = new Packet();
    packet.alloc();
    packet.data = data;
    packet.streamIndex = stream.index;
    const { num, den } = stream.timeBase;
    const ticks = (milliseconds: number): bigint => BigInt(Math.round((milliseconds * den) / (1000 * num)));
    [packet.pts, packet.dts, packet.duration] = [ticks(ms), ticks(ms), ticks(lasts)];
    packet.setFlags(AV_PKT_FLAG_KEY);
    check(context.interleavedWriteFrameSync(packet));
    packet.free();
  }
  check(context.writeTrailerSync());
  context.closeOutputSync();
}
