import t from 'tap';
import { OpenedTokens } from '../../../../src/server/http/access/opened-tokens.ts';

t.test('as many tokens are remembered as find room, the latest ones', async (t) => {
  const opened = new OpenedTokens(2);
  for (const token of ['a', 'b', 'a', 'c']) opened.remember('ws_1', token);
  t.same(
    ['a', 'b', 'c'].map((token) => opened.has('ws_1', token)),
    [true, false, true],
  );
  t.notOk(opened.has('ws_2', 'a'));
  opened.forget('ws_1', 'a');
  t.notOk(opened.has('ws_1', 'a'));
});
