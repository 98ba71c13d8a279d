import t from 'tap';
import { errorCode } from '../../../../src/protocol/error.ts';
import { Router } from '../../../../src/server/http/exchange/router.ts';

const router = new Router([
  { method: 'POST', path: '/agent/v1/search' },
  { method: 'GET', path: '/agent/v1/items/{item_id}' },
  { method: 'GET', path: '/agent/v1/workspaces/{id}/usage' },
  { method: 'DELETE', path: '/agent/v1/workspaces/{id}' },
]);

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return errorCode(error);
  }
  return undefined;
}

t.test('a known path with another method names the allowed ones', async (t) => {
  try {
    router.find('PUT', '/agent/v1/items/x');
    t.fail('must throw');
  } catch (error) {
    t.equal(errorCode(error), 'method_not_allowed');
    t.same((error as { facts: unknown }).facts, { allow: ['GET', 'HEAD', 'OPTIONS'] });
  }
});

t.test('one slash at the end changes nothing', async (t) => {
  t.equal(router.find('POST', '/agent/v1/search/').route.path, '/agent/v1/search');
  t.same(router.find('GET', '/agent/v1/items/x/').params, { item_id: 'x' });
  t.equal(
    codeOf(() => router.find('GET', '/agent/v1/search/')),
    'method_not_allowed',
  );
});
