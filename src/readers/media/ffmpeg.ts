import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_FRAME_DATA_DISPLAYMATRIX,
  AV_LOG_QUIET,
  AV_PIX_FMT_RGB24,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVDISCARD_ALL,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_SUBTITLE,
  AVMEDIA_TYPE_VIDEO,
  AVSEEK_FLAG_BACKWARD,
  SWS_BILINEAR,
} from 'node-av/constants';
import {
  CodecContext,
  Dictionary,
  FormatContext,
  Frame,
  Log,
  Packet,
  SoftwareScaleContext,
  type Stream,
} from 'node-av/lib';
import { corrupt } from '../reading/refusal.ts';
import { DECODERS_ALLOWED, decoderOf } from './decoders.ts';
import { type Rotation, rotated, rotationOf, swapsSides } from './rotate.ts';
import { SoundDecoder } from './sound.ts';

/** Longer side of the frames that are given: more than any picture model uses. */
const FRAME_SIDE_PIXELS = 480;
/** Ticks a second of the times that the container states (AV_TIME_BASE). */
const TICKS = 1e6;
/** Greater values mean an unknown time (AV_NOPTS_VALUE). */
const TIME_MAX = 2 ** 52;
/** Damaged packets after which reading ends. */
const FAULTS_MAX = 100;

/** Silences FFmpeg's messages about files on the error output. */
export function quietFfmpeg(): void {
  Log.setLevel(AV_LOG_QUIET);
}

export interface RgbFrame {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly time_s: number;
}

/** The file of a picture that the recording carries, such as an album's cover. */
export interface Cover {
  readonly cover: Uint8Array;
}

/** A packet of a subtitle stream, as stored in the file. */
export interface SubtitlePacket {
  readonly codec: number;
  readonly data: Uint8Array;
  readonly time_s: number;
  readonly duration_s: number;
}

/**
 * A media file, opened by FFmpeg. It reads this file alone, by the demuxers of the file's type and the decoders of the list: a playlist leads nowhere.
 * Everything runs on this thread. It must be closed.
 */
export class MediaFile {
  readonly #context = new FormatContext();

  /** @throws file_corrupt. */
  constructor(path: string, demuxers: string) {
    this.#context.allocContext();
    const options = Dictionary.fromObject({
      protocol_whitelist: 'file',
      format_whitelist: demuxers,
      codec_whitelist: DECODERS_ALLOWED,
    });
    if (this.#context.openInputSync(path, null, options) < 0) throw corrupt('it is no complete recording');
    if (this.#context.findStreamInfoSync(null) < 0) {
      this.close();
      throw corrupt('nothing in it can be played');
    }
  }

  /** Seconds; 0 where the file does not say. */
  get duration_s(): number {
    return Math.max(0, Number(this.#context.duration) / TICKS);
  }

  /** When the first stream begins, in seconds. The times of all streams count from it. */
  get #start_s(): number {
    const start = Number(this.#context.startTime);
    return Math.abs(start) < TIME_MAX ? start / TICKS : 0;
  }

  /** Width and height of the video as displayed, in pixels; undefined without a video. */
  get size(): { width: number; height: number } | undefined {
    const { video } = this;
    if (!video) return undefined;
    const { width, height } = video.codecpar;
    return swapsSides(streamRotation(video)) ? { width: height, height: width } : { width, height };
  }

  /** Continues with the last key frame before a second; in a file without an index, with the next packet. */
  seek(second: number): void {
    // A thousandth more: given times are rounded, and the frame's exact time may be a little later.
    const ticks = BigInt(Math.round((second + 0.001 + this.#start_s) * TICKS));
    this.#context.seekFrameSync(-1, ticks, AVSEEK_FLAG_BACKWARD);
  }

  /** The first stream of moving pictures. Covers are none. */
  get video(): Stream | undefined {
    return this.#streams(AVMEDIA_TYPE_VIDEO).find((stream) => !isCover(stream));
  }

  get hasAudio(): boolean {
    return this.#streams(AVMEDIA_TYPE_AUDIO).length > 0;
  }

  /** Tags of the file and its streams. The file's win. */
  get tags(): Record<string, string> {
    const streams = this.#context.streams.map((stream) => stream.metadata?.getAll() ?? {});
    return Object.assign({}, ...streams, this.#context.metadata?.getAll() ?? {}) as Record<string, string>;
  }

  /**
   * Covers, frames of the video, and packets of subtitles, in the order of the file. FFmpeg gives a cover as the only packet of its
   * stream.
   * @param everySeconds least distance of the frames that are given; those between are decoded only
   * @param keyFramesOnly decodes key frames alone
   * @param decodedPixelsMax after this many decoded pixels, decodes key frames alone
   */
  *read(options: {
    everySeconds: number;
    keyFramesOnly: boolean;
    decodedPixelsMax?: number;
  }): Generator<Cover | RgbFrame | SubtitlePacket> {
    const { video } = this;
    const { decodedPixelsMax = Number.POSITIVE_INFINITY } = options;
    const subtitles = this.#streams(AVMEDIA_TYPE_SUBTITLE);
    const covers = this.#streams(AVMEDIA_TYPE_VIDEO).filter(isCover);
    const decoder = video && new VideoDecoder(video, this.#start_s, options.everySeconds);
    try {
      for (const packet of this.#packets([...(video ? [video] : []), ...subtitles, ...covers])) {
        if (decoder && packet.streamIndex === video.index) {
          const wantsAll = !options.keyFramesOnly && decoder.decodedPixels < decodedPixelsMax;
          if (packet.isKeyframe || wantsAll) yield* decoder.decode(packet);
        } else {
          const isOf = (stream: Stream): boolean => stream.index === packet.streamIndex;
          const subtitle = subtitles.find(isOf);
          if (subtitle && packet.data) yield subtitlePacket(subtitle, packet, this.#start_s);
          else if (packet.data && covers.some(isOf)) yield { cover: new Uint8Array(packet.data) };
        }
      }
      if (decoder) yield* decoder.decode(null);
    } finally {
      decoder?.close();
    }
  }

  /**
   * The first stream of sound, in pieces: 16-bit samples, one channel, SOUND_RATE a second.
   * @param secondsMax gaps up to this second are filled by silence
   */
  *sound(secondsMax: number): Generator<Uint8Array> {
    const stream = this.#streams(AVMEDIA_TYPE_AUDIO)[0];
    if (!stream) return;
    const decoder = new SoundDecoder(stream, this.#start_s, secondsMax);
    try {
      for (const packet of this.#packets([stream])) yield* decoder.decode(packet);
      yield* decoder.decode(null);
    } finally {
      decoder.close();
    }
  }

  /** The packets of some streams, each valid until the next. Damaged ones are passed over. */
  *#packets(wanted: readonly Stream[]): Generator<Packet> {
    for (const stream of this.#context.streams)
      if (!wanted.some(({ index }) => index === stream.index)) stream.discard = AVDISCARD_ALL;
    const packet = new Packet();
    packet.alloc();
    try {
      for (let faults = 0; faults < FAULTS_MAX; ) {
        const status = this.#context.readFrameSync(packet);
        if (status === AVERROR_EOF) break;
        if (status < 0) {
          faults++;
          continue;
        }
        if (wanted.some(({ index }) => index === packet.streamIndex)) yield packet;
        packet.unref();
      }
    } finally {
      packet.free();
    }
  }

  close(): void {
    this.#context.closeInputSync();
  }

  #streams(type: number): Stream[] {
    return this.#context.streams.filter((stream) => stream.codecpar.codecType === type);
  }
}

/** Frames of one stream, small and in RGB. */
class VideoDecoder {
  readonly #stream: Stream;
  readonly #start_s: number;
  readonly #everySeconds: number;
  readonly #rotation: Rotation | undefined;
  readonly #decoder = new CodecContext();
  readonly #frame = new Frame();
  readonly #small = new Frame();
  #scaler: SoftwareScaleContext | undefined;
  #shape = '';
  #next = Number.NEGATIVE_INFINITY;
  #decodedPixels = 0;

  constructor(stream: Stream, start_s: number, everySeconds: number) {
    this.#stream = stream;
    this.#start_s = start_s;
    this.#everySeconds = everySeconds;
    this.#rotation = streamRotation(stream);
    const codec = decoderOf(stream);
    if (!codec) throw corrupt('its pictures are in a format that cannot be decoded');
    this.#decoder.allocContext3(codec);
    this.#decoder.parametersToContext(stream.codecpar);
    this.#decoder.threadCount = 1;
    if (this.#decoder.open2Sync(codec, null) < 0) throw corrupt('its pictures cannot be decoded');
    this.#frame.alloc();
  }

  get decodedPixels(): number {
    return this.#decodedPixels;
  }

  /** Null ends the stream. Damaged packets give nothing. */
  *decode(packet: Packet | null): Generator<RgbFrame> {
    if (this.#decoder.sendPacketSync(packet) < 0) return;
    while (this.#decoder.receiveFrameSync(this.#frame) === 0) {
      this.#decodedPixels += this.#frame.width * this.#frame.height;
      const { num, den } = this.#stream.timeBase;
      const stamp = Number(this.#frame.bestEffortTimestamp);
      const time_s = Math.max(0, (stamp * num) / den - this.#start_s);
      if (time_s >= this.#next && Number.isFinite(time_s)) {
        this.#next = time_s + this.#everySeconds;
        yield this.#toRgb(Math.round(time_s * 1000) / 1000);
      }
      this.#frame.unref();
    }
  }

  close(): void {
    this.#decoder.freeContext();
    this.#frame.free();
    this.#small.free();
    this.#scaler?.freeContext();
  }

  #toRgb(time_s: number): RgbFrame {
    const { width: fullWidth, height: fullHeight, format } = this.#frame;
    const scale = Math.min(1, FRAME_SIDE_PIXELS / Math.max(fullWidth, fullHeight));
    const width = Math.max(1, Math.round(fullWidth * scale));
    const height = Math.max(1, Math.round(fullHeight * scale));
    const shape = `${fullWidth} ${fullHeight} ${format}`;
    if (shape !== this.#shape) {
      this.#scaler?.freeContext();
      this.#scaler = new SoftwareScaleContext();
      this.#scaler.getContext(
        fullWidth,
        fullHeight,
        this.#decoder.pixelFormat,
        width,
        height,
        AV_PIX_FMT_RGB24,
        SWS_BILINEAR,
      );
      this.#small.free();
      this.#small.alloc();
      this.#small.format = AV_PIX_FMT_RGB24;
      this.#small.width = width;
      this.#small.height = height;
      if (this.#small.getBuffer(1) < 0) throw corrupt('its pictures cannot be scaled');
      this.#shape = shape;
    }
    if (this.#scaler!.scaleFrameSync(this.#small, this.#frame) < 0)
      throw corrupt('its pictures cannot be scaled');
    const small = { data: rows(this.#small, width, height), width, height };
    // The frame's matrix comes from the decoder, which may have found it in the stream's data.
    const rotation = rotationOf(this.#frame.getSideData(AV_FRAME_DATA_DISPLAYMATRIX)) ?? this.#rotation;
    return { ...(rotation ? rotated(small, rotation) : small), time_s };
  }
}

/** The pixels without the padding of each row. */
function rows(frame: Frame, width: number, height: number): Uint8Array {
  const source = frame.data?.[0];
  const stride = frame.linesize[0] ?? 0;
  if (!source || stride < width * 3) throw corrupt('its pictures cannot be scaled');
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++)
    data.set(source.subarray(row * stride, row * stride + width * 3), row * width * 3);
  return data;
}

/** By its flag alone: node-av's `attachedPic` (6.1.1) crashes the process at most files that have one. */
function isCover({ disposition }: Stream): boolean {
  return (disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0;
}

function streamRotation({ codecpar }: Stream): Rotation | undefined {
  return rotationOf(codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX));
}

function subtitlePacket({ timeBase, codecpar }: Stream, packet: Packet, start_s: number): SubtitlePacket {
  const unit = timeBase.num / timeBase.den;
  return {
    codec: codecpar.codecId,
    data: new Uint8Array(packet.data!),
    time_s: Math.max(0, Number(packet.pts) * unit - start_s),
    duration_s: Math.max(0, Number(packet.duration) * unit),
  };
}
