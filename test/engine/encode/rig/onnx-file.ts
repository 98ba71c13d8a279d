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
