import { readFile } from 'node:fs/promises';
import * as ort from 'onnxruntime-node';
import type { ManifestSpeech } from '../models/manifest.ts';
import { ByteTokens } from './byte-tokens.ts';
import { type Chosen, likeliestOf, shareOf, TokenChoice } from './choice.ts';
import { MelSpectrogram } from './mel.ts';
import { isBelieved, type Phrase, phrasesOf, repeated } from './phrases.ts';

export interface SpeechPaths {
  readonly encoder: string;
  readonly decoder: string;
  readonly tokenizer: string;
  readonly speech: ManifestSpeech;
}

/** Transcript of a clip. */
export interface Written {
  readonly phrases: readonly Phrase[];
  /** The one that was written, and how sure the model was of it. */
  readonly language: SpokenLanguage;
}

export interface SpokenLanguage {
  /** In the spelling of the model's tokens: mostly ISO 639-1. */
  readonly code: string;
  readonly share: number;
}

type Tensors = Record<string, ort.Tensor>;

/** A clip whose language is less certain is written in the language that was heard before. */
const LANGUAGE_SHARE_MIN = 0.5;

/** A Whisper-shaped model in one thread: spectrogram, encoder, and a decoder with a cache and greedy choice of tokens. */
export class SpeechWriter {
  readonly #speech: ManifestSpeech;
  readonly #encoder: ort.InferenceSession;
  readonly #decoder: ort.InferenceSession;
  readonly #tokens: ByteTokens;
  readonly #mel: MelSpectrogram;
  readonly #choice: TokenChoice;
  readonly #noPast: Tensors;

  static async open({ encoder, decoder, tokenizer, speech }: SpeechPaths): Promise<SpeechWriter> {
    // Without an arena the largest layer's memory goes back after each clip.
    const options = {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
      enableCpuMemArena: false,
    } as const;
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
    this.#choice = new TokenChoice(speech);
    this.#noPast = emptyPast(decoder);
  }

  /**
   * Transcribes samples (−1 to 1) of at most the model's length.
   * @param before the language that the recording's earlier clips were in
   */
  async write(samples: Float32Array, before?: string): Promise<Written> {
    const { sample_rate, mel_bins, start, transcribe } = this.#speech;
    const seconds = samples.length / sample_rate;
    const mel = new ort.Tensor('float32', this.#mel.of(samples), [1, mel_bins, this.#mel.frames]);
    const decoding = new Decoding(this.#decoder, await this.#encoder.run({ mel }), this.#noPast);
    const language = this.#language(await decoding.step([start]), before);
    const logits = await decoding.step([language.token, transcribe]);
    const chosen = await this.#decode(decoding, logits, seconds);
    const phrases = phrasesOf(chosen, this.#tokens, this.#choice.firstTime, seconds);
    return {
      phrases: phrases.filter(isBelieved),
      language: { code: language.code, share: language.share },
    };
  }

  async #decode(decoding: Decoding, first: Float32Array, seconds: number): Promise<Chosen[]> {
    const { end, tokens_max } = this.#speech;
    const chosen: Chosen[] = [];
    const words: number[] = [];
    let logits = first;
    while (chosen.length < tokens_max) {
      const ids = chosen.map(({ id }) => id);
      const next = this.#choice.next(logits, ids, seconds);
      if (next.id === end || next.id < 0) break;
      chosen.push(next);
      if (!this.#choice.isTime(next.id)) words.push(next.id);
      const lost = repeated(words);
      if (lost > 0) return this.#withoutWords(chosen, lost);
      logits = await decoding.step([next.id]);
    }
    return chosen;
  }

  /** Tokens without the last words, and what stands among and behind them. */
  #withoutWords(chosen: readonly Chosen[], count: number): Chosen[] {
    const kept = [...chosen];
    for (let left = count; left > 0; ) if (!this.#choice.isTime(kept.pop()!.id)) left--;
    return kept;
  }

  #language(logits: Float32Array, before?: string): SpokenLanguage & { token: number } {
    const [from, to] = this.#speech.languages;
    const likeliest = likeliestOf(logits, from, to);
    const share = shareOf(logits, likeliest, from, to);
    const former = before === undefined ? undefined : this.#tokens.special(`<|${before}|>`);
    const token = former !== undefined && share < LANGUAGE_SHARE_MIN ? former : likeliest;
    const code = /^<\|(.+)\|>$/.exec(this.#tokens.nameOf(token) ?? '')?.[1] ?? '';
    return { token, code, share: shareOf(logits, token, from, to) };
  }
}

/** One clip's decoder: it remembers keys and values of the tokens that it was given. */
class Decoding {
  readonly #decoder: ort.InferenceSession;
  readonly #cross: Tensors;
  #past: Tensors;

  constructor(decoder: ort.InferenceSession, cross: Tensors, noPast: Tensors) {
    this.#decoder = decoder;
    this.#cross = cross;
    this.#past = noPast;
  }

  /** Takes the next tokens. @returns logits of what follows them */
  async step(ids: readonly number[]): Promise<Float32Array> {
    const tokens = new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
    const found = await this.#decoder.run({ tokens, ...this.#cross, ...this.#past });
    const kept = Object.entries(found).filter(([name]) => name.startsWith('self_'));
    this.#past = Object.fromEntries(kept.map(([name, tensor]) => [name.replace('self_', 'past_'), tensor]));
    return found.logits!.data as Float32Array;
  }
}

/** Keys and values of no token, in the shape that the decoder's inputs have. */
function emptyPast(decoder: ort.InferenceSession): Tensors {
  const past: Tensors = {};
  for (const input of decoder.inputMetadata)
    if (input.isTensor && input.name.startsWith('past_')) {
      const dims = input.shape.map((side) => (typeof side === 'number' && side >= 0 ? side : 0));
      past[input.name] = new ort.Tensor('float32', new Float32Array(), dims);
    }
  return past;
}
