import t from 'tap';
import { JsonArray } from '../../../../src/engine/json-array.ts';
import { jsonText, shownJson } from '../../../../src/server/http/exchange/json-text.ts';

const LIST = new JsonArray(Buffer.from('[{"é":"鳥"},2]'), 2);

t.test('an object is written as JSON.stringify writes it, arrays that are JSON already, too', async (t) => {
  const objects: Record<string, unknown>[] = [
    {},
    { a: 1, b: undefined, c: [undefined, null], '"': 'ü' },
    { hits: LIST },
    { before: undefined, hits: LIST, 'na"me': { deep: [1, '鳥'] }, none: undefined },
    { a: 1, hits: LIST, again: LIST, date: new Date(0) },
    { none: undefined, a: 1, hits: JsonArray.EMPTY },
  ];
  for (const object of objects) {
    t.equal(Buffer.from(jsonText(object)).toString(), JSON.stringify(object));
  }
});

t.test(
  'numbers have at most six digits after the point, but for scores and what the client chose',
  async (t) => {
    const [third, own] = [-1 / 3, 0.1234567891];
    const object = {
      id: own,
      confidence: third,
      score: third,
      small: 4e-7,
      large: 12_345_678_901.25,
      text: '.12345678',
      items: [{ metadata: { weight: own, metadata: own, more: own }, time_s: 0.1 + 0.2, seconds: [third] }],
    };
    const shown = {
      id: own,
      confidence: -0.333333,
      score: third,
      small: 0,
      large: 12_345_678_901.25,
      text: '.12345678',
      items: [{ metadata: { weight: own, metadata: own, more: own }, time_s: 0.3, seconds: [-0.333333] }],
    };
    t.equal(shownJson(object), JSON.stringify(shown));
    t.equal(jsonText(object), JSON.stringify(shown));
    t.equal(
      Buffer.from(jsonText({ hits: LIST, third })).toString(),
      '{"hits":[{"é":"鳥"},2],"third":-0.333333}',
    );
  },
);
