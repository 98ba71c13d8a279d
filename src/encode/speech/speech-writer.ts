import { readFile } from 'node:fs/promises';
import * as ort from 'onnxruntime-node';
import type { ManifestSpeech } from '../models/manifest.ts';
import { ByteTokens } from './byte-tokens.ts';
import { MelSpectrogram } from './mel.ts';

export interface SpeechPaths {
  readonly encoder: string;
  readonly decoder: string;
  readonly tokenizer: string;
  readonly speech: ManifestSpeech;
}

/** A Whisper-shaped model in one thread: spectrogram, encoder, and a decoder with greedy choice of tokens. */
export class SpeechWriter {
  readonly #speech: ManifestSpeech;
  readonly #encoder: ort.InferenceSession;
  readonly #decoder: ort.InferenceSession;
  readonly #tokens: ByteTokens;
  readonly #mel: MelSpectrogram;

  static async open({ encoder, decoder, tokenizer, speech }: SpeechPaths): Promise<SpeechWriter> {
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 } as const;
    return new SpeechWriter(
      speech,
      await ort.InferenceSession.create(encoder, options),
      await ort.InferenceSession.create(decoder, options),
      new ByteTokens(await readFile(tokenizer, 'utf8')),
    );
  }

  private constructor(
    speech: ManifestSpeech,
    encoder: ort.InferenceSession,
    decoder: ort.InferenceSession,
    tokens: ByteTokens,
  ) {
    this.#speech = speech;
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#tokens = tokens;
    this.#mel = new MelSpectrogram(speech);
  }

  /** Transcribes samples (−1 to 1) of at most the model's length. */
  async write(samples: Float32Array): Promise<string> {
    const { inputs, outputs, mel_bins, prompt, end, tokens_max } = this.#speech;
    const sound = new ort.Tensor('float32', this.#mel.of(samples), [1, mel_bins, this.#mel.frames]);
    const encoded = await this.#encoder.run({ [inputs.sound]: sound });
    const hidden = encoded[outputs.hidden]!;
    const ids = [...prompt];
    for (let count = 0; count < tokens_max; count++) {
      const input = new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
      const found = await this.#decoder.run({ [inputs.ids]: input, [inputs.hidden]: hidden });
      const next = this.#likeliest(found[outputs.logits]!, ids.length);
      if (next === end) break;
      ids.push(next);
    }
    return this.#tokens.text(ids.slice(prompt.length)).trim();
  }

  #likeliest(logits: ort.Tensor, length: number): number {
    const data = logits.data as Float32Array;
    const vocabulary = logits.dims.at(-1)!;
    const last = data.subarray((length - 1) * vocabulary, length * vocabulary);
    const { suppressed } = this.#speech;
    let best = this.#speech.end;
    for (let id = 0; id < vocabulary; id++)
      if (last[id]! > last[best]! && !suppressed.includes(id)) best = id;
    return best;
  }
}
