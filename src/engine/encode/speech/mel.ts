export interface MelSettings {
  readonly sample_rate: number;
  /** Samples of a frame, and between the starts of two frames. */
  readonly fft: number;
  readonly hop: number;
  readonly mel_bins: number;
  /** Seconds to which every stretch is padded with silence. */
  readonly seconds: number;
}

/** Slaney's mel scale (Auditory Toolbox, 1998): its slope below and above the change from linear to logarithmic. */
const LINEAR_HZ_PER_MEL = 200 / 3;
const LOG_FROM_HZ = 1000;
const LOG_STEP = Math.log(6.4) / 27;
/** Floor and range of Whisper's spectrograms (Radford et al. 2022, arXiv:2212.04356, and its published code). */
const POWER_MIN = 1e-10;
const RANGE_LOG10 = 8;

/** Log-mel spectrograms for Whisper-shaped models. The tables are computed once. */
export class MelSpectrogram {
  readonly frames: number;
  readonly #settings: MelSettings;
  readonly #window: Float64Array;
  readonly #transform: PowerTransform;
  /** Row by row: the share of each frequency in each mel, and the frequencies from and to which it has any. */
  readonly #filters: Float64Array;
  readonly #bands: readonly (readonly [from: number, to: number])[];

  constructor(settings: MelSettings) {
    const { fft, hop, mel_bins, sample_rate, seconds } = settings;
    this.#settings = settings;
    this.frames = Math.floor((seconds * sample_rate) / hop);
    this.#window = Float64Array.from(
      { length: fft },
      (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / fft),
    );
    this.#transform = new PowerTransform(fft);
    this.#filters = melFilters(settings);
    const frequencies = fft / 2 + 1;
    this.#bands = Array.from({ length: mel_bins }, (_, mel) => {
      const row = this.#filters.subarray(mel * frequencies, (mel + 1) * frequencies);
      return [row.findIndex((share) => share > 0), row.findLastIndex((share) => share > 0) + 1];
    });
  }

  /** Samples of at most `seconds` → `mel_bins` × `frames`, row by row. */
  of(samples: Float32Array): Float32Array {
    const { fft, hop, mel_bins, sample_rate, seconds } = this.#settings;
    const sound = new Float64Array(seconds * sample_rate);
    sound.set(samples.subarray(0, sound.length));
    const frequencies = fft / 2 + 1;
    const power = new Float64Array(frequencies);
    const frame = new Float64Array(fft);
    const logs = new Float32Array(mel_bins * this.frames).fill(Math.log10(POWER_MIN));
    let highest = Math.log10(POWER_MIN);
    // The frames behind the sound are silent.
    const heard = Math.min(this.frames, Math.ceil((samples.length + fft) / hop));
    for (let index = 0; index < heard; index++) {
      for (let at = 0; at < fft; at++)
        frame[at] = this.#window[at]! * sound[mirrored(index * hop + at - fft / 2, sound.length)]!;
      this.#transform.of(frame, power);
      for (let mel = 0; mel < mel_bins; mel++) {
        const [from, to] = this.#bands[mel]!;
        let sum = 0;
        for (let at = from; at < to; at++) sum += this.#filters[mel * frequencies + at]! * power[at]!;
        const log = Math.log10(Math.max(POWER_MIN, sum));
        highest = Math.max(highest, log);
        logs[mel * this.frames + index] = log;
      }
    }
    return logs.map((log) => (Math.max(log, highest - RANGE_LOG10) + 4) / 4);
  }
}

/**
 * Power of each frequency up to the half. Whisper's 400 samples are no power of two: a transform of rows × columns samples is one of each
 * column, a rotation, and one of each row (Cooley and Tukey 1965). Prime lengths are transformed by definition.
 */
class PowerTransform {
  readonly #columns: number;
  readonly #rows: number;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;

  constructor(length: number) {
    let rows = Math.floor(Math.sqrt(length));
    while (length % rows !== 0) rows--;
    this.#rows = rows;
    this.#columns = length / rows;
    const circle = Float64Array.from({ length }, (_, at) => (2 * Math.PI * at) / length);
    this.#cosines = circle.map(Math.cos);
    this.#sines = circle.map(Math.sin);
    this.#real = new Float64Array(length);
    this.#imaginary = new Float64Array(length);
  }

  of(frame: Float64Array, power: Float64Array): void {
    const [rows, columns] = [this.#rows, this.#columns];
    const length = frame.length;
    // Sample row · columns + column gives the parts of this column, turned by column · part.
    for (let column = 0; column < columns; column++)
      for (let part = 0; part < rows; part++) {
        let [real, imaginary] = [0, 0];
        const step = part * columns;
        for (let row = 0, turn = 0; row < rows; row++) {
          const value = frame[row * columns + column]!;
          real += value * this.#cosines[turn]!;
          imaginary -= value * this.#sines[turn]!;
          turn += step;
          if (turn >= length) turn -= length;
        }
        const turned = column * part;
        const [cosine, sine] = [this.#cosines[turned]!, this.#sines[turned]!];
        this.#real[part * columns + column] = real * cosine + imaginary * sine;
        this.#imaginary[part * columns + column] = imaginary * cosine - real * sine;
      }
    for (let frequency = 0; frequency < power.length; frequency++) {
      const start = (frequency % rows) * columns;
      const step = (Math.floor(frequency / rows) * rows) % length;
      let [real, imaginary] = [0, 0];
      for (let column = 0, turn = 0; column < columns; column++) {
        const [cosine, sine] = [this.#cosines[turn]!, this.#sines[turn]!];
        const [partReal, partImaginary] = [this.#real[start + column]!, this.#imaginary[start + column]!];
        real += partReal * cosine + partImaginary * sine;
        imaginary += partImaginary * cosine - partReal * sine;
        turn += step;
        if (turn >= length) turn -= length;
      }
      power[frequency] = real * real + imaginary * imaginary;
    }
  }
}

/** Reflects the sound at its beginning and end. */
function mirrored(at: number, length: number): number {
  if (at < 0) return -at;
  return at < length ? at : 2 * (length - 1) - at;
}

/** Triangular filters over the mel scale, of equal area. */
function melFilters({ fft, mel_bins, sample_rate }: MelSettings): Float64Array {
  const frequencies = fft / 2 + 1;
  const top = melOf(sample_rate / 2);
  const edges = Array.from({ length: mel_bins + 2 }, (_, at) => hertzOf((top * at) / (mel_bins + 1)));
  const filters = new Float64Array(mel_bins * frequencies);
  for (let mel = 0; mel < mel_bins; mel++) {
    const [low, centre, high] = edges.slice(mel, mel + 3) as [number, number, number];
    for (let at = 0; at < frequencies; at++) {
      const hertz = (at * sample_rate) / fft;
      const share = Math.min((hertz - low) / (centre - low), (high - hertz) / (high - centre));
      filters[mel * frequencies + at] = (Math.max(0, share) * 2) / (high - low);
    }
  }
  return filters;
}

function melOf(hertz: number): number {
  const linear = hertz / LINEAR_HZ_PER_MEL;
  return hertz < LOG_FROM_HZ
    ? linear
    : LOG_FROM_HZ / LINEAR_HZ_PER_MEL + Math.log(hertz / LOG_FROM_HZ) / LOG_STEP;
}

function hertzOf(mel: number): number {
  const linear = LOG_FROM_HZ / LINEAR_HZ_PER_MEL;
  return mel < linear ? mel * LINEAR_HZ_PER_MEL : LOG_FROM_HZ * Math.exp(LOG_STEP * (mel - linear));
}
