/** Writes small ONNX models for tests. */

import { FLOAT, INT64, model, node, tensor, valueInfo } from './onnx-messages.ts';

/** Numbers between −1 and 1 that are the same in each run. */
function weights(count: number, seed: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => Math.sin(index * 12.9898 + seed * 78.233));
}

/** Text of CLIP's shape with random weights: token ids → one vector for each token. */
export function textModel(dimensions: number): Uint8Array {
  const rows = 509;
  return model({
    nodes: [node('Mod', ['input_ids', 'rows'], 'row'), node('Gather', ['table', 'row'], 'last_hidden_state')],
    constants: [
      tensor('rows', [], BigInt64Array.of(BigInt(rows))),
      tensor('table', [rows, dimensions], weights(rows * dimensions, 1)),
    ],
    inputs: [valueInfo('input_ids', INT64, ['batch', 'tokens'])],
    outputs: [valueInfo('last_hidden_state', FLOAT, ['batch', 'tokens', dimensions])],
  });
}

/** Pictures of CLIP's shape with random weights: the mean colour, projected. */
export function pictureModel(dimensions: number): Uint8Array {
  return model({
    nodes: [
      node('GlobalAveragePool', ['pixel_values'], 'mean'),
      node('Flatten', ['mean'], 'flat'),
      node('MatMul', ['flat', 'projection'], 'image_embeds'),
    ],
    constants: [tensor('projection', [3, dimensions], weights(3 * dimensions, 2))],
    inputs: [valueInfo('pixel_values', FLOAT, ['batch', 3, 224, 224])],
    outputs: [valueInfo('image_embeds', FLOAT, ['batch', dimensions])],
  });
}

export const SPEECH_VOCABULARY = 40;

/** An encoder of Whisper's shape with random weights: the mean of each mel, projected, as one hidden state. */
export function speechEncoder(bins: number, dimensions: number): Uint8Array {
  return model({
    nodes: [
      node('GlobalAveragePool', ['input_features'], 'mean'),
      node('Flatten', ['mean'], 'flat'),
      node('MatMul', ['flat', 'projection'], 'projected'),
      node('Unsqueeze', ['projected', 'axis'], 'last_hidden_state'),
    ],
    constants: [
      tensor('projection', [bins, dimensions], weights(bins * dimensions, 3)),
      tensor('axis', [1], BigInt64Array.of(1n)),
    ],
    inputs: [valueInfo('input_features', FLOAT, ['batch', bins, 'frames'])],
    outputs: [valueInfo('last_hidden_state', FLOAT, ['batch', 1, dimensions])],
  });
}

/** A decoder of Whisper's shape with random weights: each token with the hidden state, projected to all tokens. */
export function speechDecoder(dimensions: number): Uint8Array {
  const vocabulary = SPEECH_VOCABULARY;
  return model({
    nodes: [
      node('Gather', ['table', 'input_ids'], 'embedded'),
      node('Add', ['embedded', 'encoder_hidden_states'], 'both'),
      node('MatMul', ['both', 'projection'], 'logits'),
    ],
    constants: [
      tensor('table', [vocabulary, dimensions], weights(vocabulary * dimensions, 4)),
      tensor('projection', [dimensions, vocabulary], weights(dimensions * vocabulary, 5)),
    ],
    inputs: [
      valueInfo('input_ids', INT64, ['batch', 'tokens']),
      valueInfo('encoder_hidden_states', FLOAT, ['batch', 1, dimensions]),
    ],
    outputs: [valueInfo('logits', FLOAT, ['batch', 'tokens', vocabulary])],
  });
}

/** The tokens after the prompt that encoder and decoder give for a spectrogram, computed by hand. */
export function speechReference(
  mel: Float32Array,
  speech: {
    readonly mel_bins: number;
    readonly prompt: readonly number[];
    readonly end: number;
    readonly suppressed: readonly number[];
    readonly tokens_max: number;
  },
  dimensions: number,
): number[] {
  const { mel_bins, prompt, end, suppressed, tokens_max } = speech;
  const frames = mel.length / mel_bins;
  const means = Array.from({ length: mel_bins }, (_, bin) => {
    const row = mel.subarray(bin * frames, (bin + 1) * frames);
    return row.reduce((sum, value) => sum + value, 0) / frames;
  });
  const into = weights(mel_bins * dimensions, 3);
  const table = weights(SPEECH_VOCABULARY * dimensions, 4);
  const out = weights(dimensions * SPEECH_VOCABULARY, 5);
  const axes = Array.from({ length: dimensions }, (_, axis) => axis);
  const hidden = axes.map((axis) =>
    means.reduce((sum, mean, bin) => sum + mean * into[bin * dimensions + axis]!, 0),
  );
  const ids: number[] = [];
  let last = prompt.at(-1)!;
  while (ids.length < tokens_max) {
    const both = axes.map((axis) => hidden[axis]! + table[last * dimensions + axis]!);
    const logits = Array.from({ length: SPEECH_VOCABULARY }, (_, id) =>
      suppressed.includes(id)
        ? Number.NEGATIVE_INFINITY
        : axes.reduce((sum, axis) => sum + both[axis]! * out[axis * SPEECH_VOCABULARY + id]!, 0),
    );
    last = logits.indexOf(Math.max(...logits));
    if (last === end) break;
    ids.push(last);
  }
  return ids;
}
