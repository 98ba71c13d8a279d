import t from 'tap';
import type { Candidate, LabelBridge, Missing, Tower } from '../../../../src/engine/encode/models/tower.ts';
import { availableTowers } from '../../../../src/engine/encode/workers/available-towers.ts';

const candidates = [{ provider: 'cpu' } as Candidate];
const text = { kind: 'text', model: 'words', candidates, searches: ['text_semantic', 'visual_words'] };
const picture = { kind: 'picture', model: 'looks', candidates, searches: ['visual_picture'] };
const bridge = { space: 'visual_words', textModel: 'words' } as LabelBridge;
const LABELS = [
  { ...text, fills: 'text_semantic' },
  { ...picture, fills: 'visual_picture', bridge },
] as unknown as readonly Tower[];
const JOINT = [
  { ...picture, model: 'joint', fills: 'visual_picture' },
  { ...text, model: 'joint words', searches: ['visual_picture'] },
] as unknown as readonly Tower[];

const fails = (model: string, provider = '') => ({ model, provider, reason: 'broken' });
const lacks = (missing: readonly Missing[]) =>
  missing.map(({ space, asksWith, reason }) => `${space} by ${asksWith}: ${reason}`);

t.test('towers that fail on one provider, and have another, serve', async (t) => {
  const available = availableTowers(LABELS, [], [fails('words', 'cuda')]);
  t.strictSame(available, { towers: LABELS, missing: [] });
});

t.test('without its labels’ text model a picture model stays, and its words are missing', async (t) => {
  const { towers, missing } = availableTowers(LABELS, [], [fails('words')]);
  t.match(towers, [{ model: 'looks', fills: 'visual_picture', bridge: undefined }]);
  t.equal(towers.length, 1);
  t.strictSame(lacks(missing), ['text_semantic by text: broken', 'visual_words by text: broken']);
});

t.test('without the picture model its text model searches text alone', async (t) => {
  const { towers, missing } = availableTowers(LABELS, [], [fails('looks')]);
  t.match(towers, [{ model: 'words', searches: ['text_semantic'] }]);
  t.equal(towers[0]!.searches.length, 1);
  t.strictSame(lacks(missing), ['visual_picture by picture: broken', 'visual_words by text: broken']);
});

t.test('a text tower that has nothing left to search is left out', async (t) => {
  const { towers, missing } = availableTowers(JOINT, [], [fails('joint')]);
  t.strictSame(towers, []);
  t.strictSame(lacks(missing), ['visual_picture by picture: broken', 'visual_picture by text: broken']);
});

t.test('a tower without a candidate left says what each provider said', async (t) => {
  const none = LABELS.map((tower) => ({ ...tower, candidates: [] }));
  const { missing } = availableTowers(none, [], [fails('words', 'cuda'), fails('words', 'cpu')]);
  t.match(missing[0], { space: 'text_semantic', reason: 'cuda: broken; cpu: broken' });
  t.match(missing.at(-1), { reason: 'no provider can run it' });
});
