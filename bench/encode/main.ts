import { queriesAgainstBare } from './queries.ts';
import { nativeAgainstRuntime } from './speed.ts';

/** The native encoder beside ONNX Runtime, and what stands around the model's forward pass. PART=native: the encoders alone. */
const { SECONDS, DOCUMENTS, PART } = process.env;
const [seconds, documents] = [Number(SECONDS), Number(DOCUMENTS)];
const encoders = await nativeAgainstRuntime();
export const facts = {
  encoders,
  ...(PART !== 'native' && {
    queries: await queriesAgainstBare(seconds, Math.min(200, documents)),
  }),
};
