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

t.test('a path parameter is given by name', async (t) => {
  const { route, params } = router.find('GET', '/agent/v1/workspaces/ws_1/usage');
  t.equal(route.path, '/agent/v1/workspaces/{id}/usage');
  t.same(params, { id: 'ws_1' });
});

t.test('HEAD is served wherever GET is', async (t) => {
  t.equal(router.find('HEAD', '/agent/v1/items/x').route.path, '/agent/v1/items/{item_id}');
});

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

t.test('an unknown path, two slashes at the end and an empty parameter are not found', async (t) => {
  for (const path of ['/', '/agent/v1/search//', '/agent/v1/items/', '/Agent/v1/search']) {
    t.equal(
      codeOf(() => router.find('GET', path)),
      'not_found',
      path,
    );
  }
});
