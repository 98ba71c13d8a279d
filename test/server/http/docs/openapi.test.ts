import { createConfig, lintFromString } from '@redocly/openapi-core';
import t from 'tap';
import { DescribedAnswers, type Description } from '../../../rig/described-answers.ts';
import { startTestServer, TestAgent, type TestAnswer } from '../../../rig/test-server.ts';

/** The description is all that a generated client knows: what it says of requests is sent here, and every answer is compared with it. */

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example: unknown }> };
  readonly responses: Record<string, object>;
}

const server = await startTestServer(t);
const text = await (await fetch(`${server.url}/openapi.json`)).text();
const description = JSON.parse(text) as Description & { paths: Record<string, Record<string, Operation>> };
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    ...operation,
  })),
);

t.test('the description has no fault that a linter finds', async (t) => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { 'no-ambiguous-paths': 'error', 'operation-4xx-response': 'error' },
  });
  const problems = await lintFromString({ source: text, config });
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`),
    [],
  );
});

t.test('every example of a request succeeds as described, and no operation lacks one', async (t) => {
  const agent = new TestAgent(server.url);
  const known: Record<string, string> = {};
  const key = await server.running.firstKey();
  let token = '';
  const answered = new Set<string>();
  const send = async (operationId: string, mediaType?: string): Promise<TestAnswer> => {
    const { path, method, security, requestBody, responses } = operations.find(
      (one) => one.operationId === operationId,
    )!;
    const url = server.url + path.replace(/\{(\w+)\}/g, (_, name: string) => known[name]!);
    const content = mediaType === undefined ? undefined : requestBody?.content[mediaType];
    const headers: Record<string, string> = { Prefer: 'wait=60' };
    const isHouse = security.some((scheme) => 'houseKey' in scheme);
    if (security.length > 0) headers.Authorization = `Bearer ${isHouse ? key : token}`;
    if (mediaType && mediaType !== 'multipart/form-data') headers['Content-Type'] = mediaType;
    const response = await agent.fetch(url, {
      method,
      headers,
      body: content && bodyOf(mediaType!, content),
    });
    const body = await response.text();
    const success = Object.keys(responses)[0];
    t.equal(String(response.status), success, `${operationId} ${mediaType ?? ''}: ${body.slice(0, 300)}`);
    answered.add(operationId);
    const isJson = /^application\/json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(body) : body };
  };
  const inTurn = (id: string) =>
    Object.keys(operations.find(({ operationId }) => operationId === id)?.requestBody?.content ?? { '': {} });
  const examples = async (operationId: string) => {
    let last: TestAnswer | undefined;
    for (const type of inTurn(operationId)) last = await send(operationId, type || undefined);
    return last!.body;
  };

  await examples('prepay');
  const paidFor = await examples('ingest');
  known.item_id = paidFor.item.id;
  known.job_id = paidFor.job_id;
  t.equal((await examples('search')).hits.length > 0, true, 'a paid search finds what was uploaded');
  for (const id of ['item', 'job', 'jobEvents']) await examples(id);
  const workspace = await examples('createWorkspace');
  known.id = workspace.id;
  token = workspace.capability_token;
  const included = await examples('ingestWorkspace');
  known.item_id = included.item.id;
  known.job_id = included.job_id;
  for (const id of [
    'searchWorkspace',
    'grepWorkspace',
    'workspaceJob',
    'workspaceJobEvents',
    'workspaceHistory',
    'workspaceItems',
    'workspaceItem',
  ])
    await examples(id);
  for (const id of [
    'workspaceItemContent',
    'exportWorkspace',
    'workspaceItemText',
    'workspaceItemCaptions',
    'workspaceUsage',
    'extendWorkspace',
    'endReserve',
    'deleteWorkspaceItem',
  ])
    await examples(id);
  await examples('disposeWorkspace');
  await examples('workspaceReceipt');
  for (const { operationId, path } of operations)
    if (!path.startsWith('/agent/')) await examples(operationId);
  // A job that ended can no longer be cancelled, and a text has no picture: previews.test.ts and workspace-contents.test.ts. A balance is shown, and a refund made, for prepaid money: prepaid.test.ts; a channel is refunded with a chain: batch-settlement.test.ts.
  t.same(
    operations.map(({ operationId }) => operationId).filter((id) => !answered.has(id)),
    [
      'itemPreview',
      'cancelWorkspaceJob',
      'workspaceItemPreview',
      'prepaidBalance',
      'refundPrepaid',
      'refundChannel',
    ],
  );
});

function bodyOf(mediaType: string, { example }: { readonly example: unknown }): string | FormData {
  if (mediaType !== 'multipart/form-data')
    return typeof example === 'string' ? example : JSON.stringify(example);
  const form = new FormData();
  form.set('file', new File([String((example as { file: string }).file)], 'gulls.txt'));
  return form;
}

t.test('an answer that the description doesn’t allow is noticed', async (t) => {
  const described = new DescribedAnswers(description);
  const headers = new Headers({ 'Content-Type': 'application/json' });
  const seen = { method: 'GET', url: '/healthz', status: 200, headers };
  t.same(described.faults({ ...seen, text: '{"status":"ok"}' }), []);
  t.match(described.faults({ ...seen, text: '{"status":"ok","mood":"good"}' }), [/additional properties/]);
  t.match(described.faults({ ...seen, text: '{}' }), [/required/]);
  t.match(described.faults({ ...seen, status: 418, text: '{}' }), [/status 418/]);
  t.match(described.faults({ ...seen, url: '/wealthz', text: '{}' }), [/no operation/]);
  const strange = new Headers({ 'Content-Type': 'application/json', 'X-Mood': 'good' });
  t.match(described.faults({ ...seen, headers: strange, text: '{"status":"ok"}' }), [/x-mood/]);
});
