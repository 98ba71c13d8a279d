import t from 'tap';
import { JsonArray } from '../../../src/domain/json-array.ts';
import { jsonText } from '../../../src/http/exchange/json-text.ts';

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

t.test('a frozen object is written once', async (t) => {
  let written = 0;
  const counting = {
    toJSON: () => {
      written += 1;
      return 'x';
    },
  };
  const frozen = Object.freeze({ counting });
  for (let time = 0; time < 3; time++) t.equal(jsonText(frozen), '{"counting":"x"}');
  t.equal(written, 1);
});
