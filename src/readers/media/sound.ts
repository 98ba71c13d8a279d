import { SOUND_RATE } from '@farthing/protocol/document';
import {
  AV_CHANNEL_LAYOUT_5POINT1_BACK,
  AV_CHANNEL_LAYOUT_7POINT1,
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CHANNEL_ORDER_UNSPEC,
  AV_SAMPLE_FMT_S16,
} from 'node-av/constants';
import { CodecContext, Frame, type Packet, SoftwareResampleContext, type Stream } from 'node-av/lib';
import { decoderOf } from './decoders.ts';

/** Nobody records at other rates, and a very low one would expand a few bytes to gigabytes. */
const RATE_MIN = 4_000;
const RATE_MAX = 768_000;
const CHANNELS_MAX = 64;
const BYTES_PER_SAMPLE = 2;

/** Layouts by number of channels, for files that do not state one, as plain samples. The resampler takes no unknown layout. */
const USUAL_LAYOUTS = [
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CHANNEL_LAYOUT_5POINT1_BACK,
  AV_CHANNEL_LAYOUT_7POINT1,
];
/** Times of streams are less exact than this: only a longer distance is a gap. */
const GAP_SECONDS_MIN = 0.25;
const SILENCE = new Uint8Array(SOUND_RATE * BYTES_PER_SAMPLE);

/**
 * Decodes one stream for speech models. Silence fills the gaps, so that the number of samples is the time in the
 * recording. A stream that cannot be decoded gives no sound.
 */
export class SoundDecoder {
  readonly #decoder = new CodecContext();
  readonly #frame = new Frame();
  readonly #converted = new Frame();
  #resampler: SoftwareResampleContext | undefined;
  #broken = false;
  readonly #stream: Stream;
  readonly #start_s: number;
  readonly #secondsMax: number;
  #samples = 0;

  /** @param secondsMax no silence is filled in beyond it, whatever the times of the stream */
  constructor(stream: Stream, start_s: number, secondsMax: number) {
    this.#stream = stream;
    this.#start_s = start_s;
    this.#secondsMax = secondsMax;
    const codec = decoderOf(stream);
    this.#frame.alloc();
    this.#converted.alloc();
    if (!codec) {
      this.#broken = true;
      return;
    }
    this.#decoder.allocContext3(codec);
    this.#decoder.parametersToContext(stream.codecpar);
    this.#decoder.threadCount = 1;
    if (this.#decoder.open2Sync(codec, null) < 0) this.#broken = true;
  }

  /** Null ends the stream. Damaged packets give nothing. */
  *decode(packet: Packet | null): Generator<Uint8Array> {
    if (this.#broken || this.#decoder.sendPacketSync(packet) < 0) return;
    while (!this.#broken && this.#decoder.receiveFrameSync(this.#frame) === 0) {
      yield* this.#silence();
      const piece = this.#convert();
      this.#frame.unref();
      if (!piece) continue;
      this.#samples += piece.length / BYTES_PER_SAMPLE;
      yield piece;
    }
  }

  /** The silence that is missing before the frame. */
  *#silence(): Generator<Uint8Array> {
    const { num, den } = this.#stream.timeBase;
    const time_s = (Number(this.#frame.bestEffortTimestamp) * num) / den - this.#start_s;
    const missing = Math.round(time_s * SOUND_RATE) - this.#samples;
    if (!(missing >= GAP_SECONDS_MIN * SOUND_RATE && time_s <= this.#secondsMax)) return;
    for (let left = missing * BYTES_PER_SAMPLE; left > 0; left -= SILENCE.length)
      yield SILENCE.subarray(0, Math.min(left, SILENCE.length));
    this.#samples += missing;
  }

  close(): void {
    this.#resampler?.free();
    this.#decoder.freeContext();
    this.#frame.free();
    this.#converted.free();
  }

  #convert(): Uint8Array | undefined {
    const { sampleRate, channelLayout } = this.#frame;
    if (channelLayout.order === AV_CHANNEL_ORDER_UNSPEC) {
      const usual = USUAL_LAYOUTS.find(({ nbChannels }) => nbChannels === channelLayout.nbChannels);
      if (usual) this.#frame.channelLayout = usual;
    }
    const plausible =
      sampleRate >= RATE_MIN && sampleRate <= RATE_MAX && channelLayout.nbChannels <= CHANNELS_MAX;
    if (!plausible || !this.#open()) {
      this.#broken = true;
      return undefined;
    }
    this.#converted.unref();
    this.#converted.format = AV_SAMPLE_FMT_S16;
    this.#converted.sampleRate = SOUND_RATE;
    this.#converted.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    // It fails where the format changes within the stream. The rest gives no sound.
    if (this.#resampler!.convertFrame(this.#converted, this.#frame) < 0) {
      this.#broken = true;
      return undefined;
    }
    const data = this.#converted.data?.[0];
    const bytes = this.#converted.nbSamples * BYTES_PER_SAMPLE;
    return data && bytes > 0 ? new Uint8Array(data.subarray(0, bytes)) : undefined;
  }

  #open(): boolean {
    if (this.#resampler) return true;
    const { channelLayout, sampleRate } = this.#frame;
    const resampler = new SoftwareResampleContext();
    const format = this.#decoder.sampleFormat;
    const isOpen =
      resampler.allocSetOpts2(
        AV_CHANNEL_LAYOUT_MONO,
        AV_SAMPLE_FMT_S16,
        SOUND_RATE,
        channelLayout,
        format,
        sampleRate,
      ) >= 0 && resampler.init() >= 0;
    if (isOpen) this.#resampler = resampler;
    return isOpen;
  }
}
