import t from 'tap';
import { hashOfToken, newToken, tokenMatches } from '../../../../src/server/workspace/records/token.ts';

t.test('a token is recognisable, holds 256 random bits and never comes twice', async (t) => {
  const tokens = Array.from({ length: 1000 }, newToken);
  for (const token of tokens) t.match(token, /^fws_[A-Za-z0-9_-]{43}$/);
  t.equal(new Set(tokens).size, tokens.length);
});

t.test('a token matches its own hash and nothing else', async (t) => {
  const token = newToken();
  const hash = hashOfToken(token);
  t.match(hash, /^[0-9a-f]{64}$/);
  t.notOk(hash.includes(token));
  t.ok(tokenMatches(token, hash));
  t.notOk(tokenMatches(newToken(), hash));
  t.notOk(tokenMatches(`${token} `, hash));
  t.notOk(tokenMatches('', hash));
});

t.test('without a token or without a hash nothing matches', async (t) => {
  t.notOk(tokenMatches(undefined, hashOfToken('')));
  t.notOk(tokenMatches('', undefined));
  t.notOk(tokenMatches(undefined, undefined));
  t.notOk(tokenMatches(newToken(), undefined));
});
