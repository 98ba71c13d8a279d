import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { EXTRACT_LIMITS } from '../../../../src/protocol/document.ts';
import { openExtractor } from '../../../../src/readers/open-extractor.ts';
import { cosine, openEmbedded } from '../rig/embedded.ts';
import { pictureCases } from './pictures/cases.ts';
import '../../../rig/teardown-order.ts';

/** Expected values from pictures/reference.py: Pillow, LittleCMS and ONNX Runtime for Python. */
const REFERENCE = join(import.meta.dirname, 'pictures/reference.json');
const PARITY_MIN = 0.999;

t.test('a picture has the vector that a reference pipeline gives it, however it is stored', async (t) => {
  const reference = JSON.parse(await readFile(REFERENCE, 'utf8')) as Record<string, string>;
  const encoder = await openEmbedded();
  t.teardown(() => encoder.close());
  const extractor = openExtractor({
    pictureSpec: encoder.pictureSpec,
    limits: EXTRACT_LIMITS,
    scratchFolder: join(t.testdir({}), 'scratch'),
    log: () => {},
  });
  t.teardown(() => extractor.close());
  const cases = await pictureCases();
  t.strictSame([...cases.keys()].sort(), Object.keys(reference).sort());
  for (const [name, bytes] of cases) {
    const { pixels } = await extractor.decodePicture(bytes);
    const { visual_picture: own } = await encoder.encodeQuery('picture', pixels.rgb, { tenant: 'ws_test' });
    const { buffer } = Uint8Array.from(Buffer.from(reference[name]!, 'base64'));
    const likeness = cosine(own!, new Float32Array(buffer));
    t.ok(likeness >= PARITY_MIN, `${name}: cosine ${likeness.toFixed(5)}`);
  }
});
