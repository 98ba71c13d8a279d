/**
 * Fits the curves of the text model in use (`farthing admin models use`), or with OTHER_LANGUAGES=1 of that for other languages, and
 * judges them on collections that they were not fitted on.
 *
 * Each collection of SETS that is there is encoded once and searched once: with its own
 * queries, with names, numbers and codes of its texts, and in indexes of about 1, 10 and 100 Segments with and without the answer. The
 * candidates are kept in the cache folder, so that fitting needs no model; FRESH=1 searches again. Every query counts a second time
 * without its answers. `fit.py` fits the curves of the manifest on all collections; what it judges is fitted on the others.
 */
import { whereOf } from '../sets/where.js';
import { judgedCurves } from './curves.ts';
import { dumpsOf } from './dumps.ts';
import { openChosenEncoder } from './encoder.ts';
import { orderOf, plansOf } from './examples.ts';
import { fitted } from './fitted.ts';
import { pictureSearches } from './pictures.ts';

export let facts = {};
const { encoder, close } = await openChosenEncoder();
const plans = plansOf(orderOf(encoder), encoder.fusion);
try {
  const judged = judgedCurves(await dumpsOf(encoder), plans, encoder);
  const photos = process.env.OTHER_LANGUAGES ? undefined : whereOf('photos');
  const visual_words =
    photos === undefined ? undefined : fitted('pictures', await pictureSearches(encoder, photos));
  facts = { views: judged, pictures: visual_words && { visual_words } };
} finally {
  await close();
}
