import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pixelsOf, readPhotographs } from '../../../../bench/sets/photographs.ts';
import { cosine, openEmbedded, SHARED } from '../rig/embedded.ts';

const folder = join(SHARED, 'data/photos');
const skip = existsSync(folder) ? false : `${folder} is not here`;
const tenant = 'ws_test';

/** Position of a row among all by its cosine to a query, from 0. */
function rankOf(query: Float32Array, rows: readonly Float32Array[], own: number): number {
  const score = cosine(query, rows[own]!);
  return rows.filter((row) => cosine(query, row) > score).length;
}

t.test('photographs are found by their captions and by half of themselves', { skip }, async (t) => {
  const encoder = await openEmbedded();
  t.teardown(() => encoder.close());
  const spec = encoder.pictureSpec!;
  const photographs = await readPhotographs(folder);
  const pixels = await Promise.all(photographs.map((photograph) => pixelsOf(photograph, spec)));
  const { visual_words, visual_picture } = await encoder.encodeIngest('picture', pixels, { tenant });
  let [captioned, inFive, cropped] = [0, 0, 0];
  for (const [index, photograph] of photographs.entries()) {
    const { visual_picture: crop } = await encoder.encodeQuery(
      'picture',
      await pixelsOf(photograph, spec, 'crop_half_area'),
      { tenant },
    );
    cropped += Number(rankOf(crop!, visual_picture!, index) === 0);
    if (photograph.caption === undefined) continue;
    const { visual_words: words } = await encoder.encodeQuery('text', photograph.caption, { tenant });
    captioned += 1;
    inFive += Number(rankOf(words!, visual_words!, index) < 5);
  }
  t.ok(inFive / captioned >= 0.8, `captions: ${inFive} of ${captioned} among the first five`);
  t.ok(cropped / photographs.length >= 0.95, `crops: ${cropped} of ${photographs.length} first`);
});
