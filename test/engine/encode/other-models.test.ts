import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { familyReports } from '../../../src/engine/search/families.ts';
import { servedLists } from '../../../src/engine/search/lists.ts';
import { native } from '../../../src/native/index.ts';
import { cosine, openEmbedded, SHARED } from './rig/embedded.ts';
import { clip, folderOf, tokenVectors } from './rig/other-models.ts';
import '../../rig/teardown-order.ts';

const shared = join(SHARED, 'models');
const skip = existsSync(shared) ? false : `${shared} is not here`;
const tenant = 'ws_test';

t.test(
  "a model of CLIP's shape has one space for words and pictures, through the same code",
  { skip },
  async (t) => {
    const folder = t.testdir();
    await folderOf(folder, [await clip()], { text_semantic: 'all-MiniLM-L6-v2', visual: 'clip-shaped' });

    const path = join(folder, 'clip/tokenizer.json');
    const rules = { limit: 77, specialTokens: true, dropped: [] };
    const batch = new native.TextTokenizer(path, rules).encode(['a photo of a cat'], '');
    const [ids, mask] = [new BigInt64Array(7), new BigInt64Array(7)];
    batch.fill(Uint32Array.of(0), 7, 0, ids, mask);
    t.strictSame([...ids].map(Number), [49406, 320, 1125, 539, 320, 2368, 49407], 'the ids that CLIP gives');

    const encoder = await openEmbedded({ modelsFolder: folder, cacheFolder: join(folder, 'cache') });
    t.teardown(() => encoder.close());
    t.match(familyReports(encoder)[0], { model: 'clip-shaped', words: true, pictures: true });
    t.strictSame(
      encoder.spaces.map((space) => [space.name, space.dimensions]),
      [
        ['text_semantic', 384],
        ['visual_picture', 512],
      ],
    );
    t.match(Object.fromEntries(servedLists(encoder)), {
      visual_words: { space: 'visual_picture' },
      visual_picture: { space: 'visual_picture' },
    });
    t.match(encoder.pictureSpec, { fit: 'cover', resample: 'cubic' });
    const query = await encoder.encodeQuery('text', 'a photo of a cat', { tenant });
    t.strictSame(Object.keys(query).sort(), ['text_semantic', 'visual_picture']);
    const many = await Promise.all(
      ['a dog', 'a photo of a cat', 'x '.repeat(500)].map((text) =>
        encoder.encodeQuery('text', text, { tenant }),
      ),
    );
    t.ok(cosine(many[1]!.visual_picture!, query.visual_picture!) > 0.99999, 'padding does not show');
    t.ok(Math.abs(cosine(many[2]!.visual_picture!, many[2]!.visual_picture!) - 1) < 1e-5);
    const { visual_picture: pictures } = await encoder.encodeIngest(
      'picture',
      [new Uint8Array(224 * 224 * 3).fill(200)],
      { tenant },
    );
    t.equal(pictures![0]!.length, 512);
    t.strictSame(
      Object.keys(await encoder.encodeIngest('text', ['some words'], { tenant })),
      ['text_semantic'],
      'passages go to text alone',
    );
  },
);

t.test(
  "weights of another export than their model's part describes run by what their variant says",
  async (t) => {
    const folder = join(t.testdir({}), 'models');
    mkdirSync(folder);
    await folderOf(folder, [await tokenVectors()], { text_semantic: 'token-vectors' });
    const encoder = await openEmbedded({ modelsFolder: folder, cacheFolder: join(folder, '../cache') });
    t.teardown(() => encoder.close());
    t.match(familyReports(encoder)[1], { model: 'token-vectors', available: true });
    const [one, same, other] = await Promise.all(
      ['a cat sleeps', 'sleeps a cat', 'a dog barks'].map((text) =>
        encoder.encodeQuery('text', text, { tenant }),
      ),
    );
    t.equal(one!.text_semantic!.length, 8);
    t.ok(cosine(one!.text_semantic!, same!.text_semantic!) > 0.99999, 'a mean over tokens knows no order');
    t.ok(cosine(one!.text_semantic!, other!.text_semantic!) < 0.999);
  },
);
