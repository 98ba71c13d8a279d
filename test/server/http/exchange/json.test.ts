import { Type } from '@sinclair/typebox';
import t from 'tap';
import { parseJsonObject, Validator } from '../../../../src/server/http/exchange/json.ts';

const validator = new Validator(
  Type.Object({
    k: Type.Optional(Type.Integer({ minimum: 1 })),
    name: Type.Optional(Type.String()),
  }),
);

t.test('null is absent, unknown fields are ignored and named', async (t) => {
  const { value, warnings } = validator.validate({ k: null, name: 'a', colour: 1, size: null });
  t.same(value, { name: 'a' });
  t.match(warnings, [/colour/, /size/]);
});

t.test('a wrong value names its field', async (t) => {
  t.throws(() => validator.validate({ k: 0 }), { code: 'field_invalid', facts: { field: 'k' } });
  t.throws(() => validator.validate({ k: '5' }), { code: 'field_invalid', facts: { field: 'k' } });
});

t.test('a quote is made for what can be understood', async (t) => {
  t.same(validator.lenient({ k: 'five', name: 'a' }), { name: 'a' });
});

t.test('inherited names are not fields', async (t) => {
  t.same(validator.validate(parseJsonObject('{"__proto__":{"k":0},"constructor":1}')).value, {});
});

t.test('only objects are taken; an empty body is an empty object', async (t) => {
  t.same(parseJsonObject('  '), {});
  for (const text of ['[]', '5', 'null', '"a"', '{', '{"a":1}x']) {
    t.throws(() => parseJsonObject(text), { code: 'request_malformed' }, text);
  }
});

t.test('many unknown fields give a bounded list of bounded warnings', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => ['x'.repeat(1000) + index, 1]));
  const { warnings } = validator.validate(many);
  t.equal(warnings.length, 20);
  t.ok(warnings.every((warning) => warning.length < 120));
});
