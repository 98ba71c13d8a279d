import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { isWorthShowing } from '../../../src/protocol/search.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** Whether a picture is the same, and how much it looks like another, are two numbers. */

const root = resolve(import.meta.dirname, '../../..');
const otherCat = resolve(root, '../shared/data/photos/coral/cat_1080p.jpg');
const skip = existsSync(otherCat) ? false : `${otherCat} is not here`;
const SAMPLES = ['chelsea.png', 'coffee.png', 'hot_dog.jpg', 'rocket.jpg'];

t.test('another cat looks like the cat, and is not surely the same picture', { skip }, async (t) => {
  const server = await startTestServer(t);
  const workspace = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
  const asked = async (path: string) => {
    const { body } = await workspace.search({ image_b64: readFileSync(path).toString('base64'), k: 10 });
    return body.hits as { item: { name: string }; confidence: number; likeness: number }[];
  };

  const confidences: number[] = [];
  let hits: Awaited<ReturnType<typeof asked>> = [];
  for (const name of SAMPLES) {
    await workspace.ingest(name, readFileSync(join(root, 'samples', name)));
    hits = await asked(otherCat);
    confidences.push(hits[0]!.confidence);
  }
  const [cat, ...others] = hits;
  t.equal(cat!.item.name, 'chelsea.png');
  t.ok(cat!.likeness > 0.5 && cat!.likeness < 0.9, 'much like it');
  t.ok(cat!.confidence > 0.3 && cat!.confidence < 0.7, `as likely as not the same: ${cat!.confidence}`);
  t.same(new Set(confidences).size, 1, 'whatever else is in the index');
  t.equal(others.length, 3);
  for (const { item, likeness, confidence } of others)
    t.ok(likeness < 0.45 && confidence < 0.02, `${item.name} is not`);
  t.same(
    [cat!, ...others].filter(isWorthShowing).map(({ item }) => item.name),
    ['chelsea.png'],
  );

  const [same] = await asked(join(root, 'samples/chelsea.png'));
  t.ok(same!.confidence > 0.99 && same!.likeness > 0.99);

  const { body } = await workspace.search({ query: 'a cat', families: ['visual'] });
  t.notOk('likeness' in body.hits[0], 'words are like no picture');
});
