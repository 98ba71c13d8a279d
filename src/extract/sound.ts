import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Codec, CodecContext, Frame, type Packet, SoftwareResampleContext, type Stream } from 'node-av/lib';
import { SOUND_RATE } from '../domain/document.ts';

/** Rates outside of these are no sound that anybody recorded, and would unfold a few bytes to gigabytes. */
const RATE_MIN = 4_000;
const RATE_MAX = 768_000;
const CHANNELS_MAX = 64;
const BYTES_PER_SAMPLE = 2;

/** A piece of sound: 16-bit samples, one channel, SOUND_RATE a second. */
export interface SoundPiece {
  readonly samples: Uint8Array;
}

/** The sound of one stream, as models of speech want it. A stream that cannot be decoded gives none. */
export class SoundDecoder {
  readonly #decoder = new CodecContext();
  readonly #frame = new Frame();
  readonly #converted = new Frame();
  #resampler: SoftwareResampleContext | undefined;
  #broken = false;

  constructor(stream: Stream) {
    const codec = Codec.findDecoder(stream.codecpar.codecId);
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
  *decode(packet: Packet | null): Generator<SoundPiece> {
    if (this.#broken || this.#decoder.sendPacketSync(packet) < 0) return;
    while (!this.#broken && this.#decoder.receiveFrameSync(this.#frame) === 0) {
      const piece = this.#convert();
      this.#frame.unref();
      if (piece) yield { samples: piece };
    }
  }

  close(): void {
    this.#resampler?.free();
    this.#decoder.freeContext();
    this.#frame.free();
    this.#converted.free();
  }

  #convert(): Uint8Array | undefined {
    const { sampleRate, channelLayout } = this.#frame;
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
    // It fails where the stream changes its shape on the way: what follows is not heard.
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
    const opened =
      resampler.allocSetOpts2(
        AV_CHANNEL_LAYOUT_MONO,
        AV_SAMPLE_FMT_S16,
        SOUND_RATE,
        channelLayout,
        format,
        sampleRate,
      ) >= 0 && resampler.init() >= 0;
    if (opened) this.#resampler = resampler;
    return opened;
  }
}
