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

t.test('a quote is made for what can be understood', async (t) => {
  t.same(validator.lenient({ k: 'five', name: 'a' }), { name: 'a' });
});

t.test('inherited names are not fields', async (t) => {
  t.same(validator.validate(parseJsonObject('{"__proto__":{"k":0},"constructor":1}')).value, {});
});
