import t from 'tap';
import type { GrepAnswer } from '../../../../../src/protocol/schema/grep.ts';
import {
  startTestServer,
  TestAgent,
  type TestAnswer,
  type TestWorkspace,
} from '../../../../rig/test-server.ts';

/** Lines by a regular expression, over real HTTP; front threads hand the request on. */

const server = await startTestServer(t, { FRONTS: '2' });
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

const CODE = 'Sources\n\nfn open(path) {\n  // "Größe" 😀 of\tfile\n}\n\nfn close() {}\nlet FN = 1;';
const held = [
  await workspace.ingest('code.txt', CODE),
  await workspace.ingest('notes.md', '# Opening hours\n\nThe keeper opens at 9.\n\n## Winter\n\nClosed.'),
];
const [code, notes] = held.map(({ body }) => body.item.id as string);

const grep = (asked: object, of: TestWorkspace = workspace): Promise<TestAnswer> =>
  of.send('POST', '/grep', JSON.stringify(asked));
const shown = ({ body }: TestAnswer): [name: string, line: number, text: string][] =>
  (body as GrepAnswer).lines.map(({ item, line, text }) => [item.name, line, text]);

t.test('lines come in order of upload, with where they stand', async (t) => {
  const found = await grep({ pattern: '\\bfn \\w+\\(' });
  t.equal(found.status, 200);
  t.same(shown(found), [
    ['code.txt', 1, 'fn open(path) {'],
    ['code.txt', 5, 'fn close() {}'],
  ]);
  t.match(found.body, {
    truncated: false,
    latency_ms: Number,
    lines: [{ item: { id: code }, passage: 0, locator: { char_start: 0 }, text_source: 'native' }],
  });
  const [first] = found.body.lines;
  const { hits } = (await workspace.search({ query: 'fn open', families: ['raw'], k: 1 })).body;
  const { item, locator } = first!;
  t.match(hits[0], { item, locator }, 'as a hit has them');
  t.same(shown(await grep({ pattern: '^fn', ignore_case: true, filter: { items: [notes] } })), []);
  t.same(shown(await grep({ pattern: '\\bfn\\b', ignore_case: true })).length, 3);
});

t.test('an item’s title is its line 0, and a heading is text', async (t) => {
  t.same(shown(await grep({ pattern: '^(sources|opening|winter)', ignore_case: true })), [
    ['code.txt', 0, 'Sources'],
    ['notes.md', 0, 'Opening hours'],
    ['notes.md', 1, 'Winter'],
  ]);
});

t.test('texts match as they are, not as they are stored; highlights count UTF-16 units', async (t) => {
  for (const [pattern, place] of [
    ['"größe" .', [5, 15]],
    ['\\tfile', [18, 23]],
    ['\\p{So}', [13, 15]],
  ] as const) {
    const { body } = await grep({ pattern, ignore_case: true });
    t.match(body.lines, [{ line: 2, highlights: [place] }], pattern);
    t.equal(body.lines.length, 1);
  }
  t.same(shown(await grep({ pattern: '\\\\n' })), [], 'there is no backslash');
});

t.test('a filter holds, and max_lines tells that there is more', async (t) => {
  const some = await grep({ pattern: '', max_lines: 1 });
  t.match(some, { status: 400, body: { field: 'pattern' } });
  const all = shown(await grep({ pattern: '.' }));
  t.same(
    shown(await grep({ pattern: '.', filter: { name: '*.md' } })),
    all.filter(([name]) => name === 'notes.md'),
  );
  for (let most = 1; most <= all.length; most += 1) {
    const cut = await grep({ pattern: '.', max_lines: most });
    t.same(shown(cut), all.slice(0, most));
    t.equal(cut.body.truncated, most < all.length);
    let pages = shown(cut);
    for (let { next } = cut.body; next !== null; ) {
      const { body } = await grep({ pattern: '.', max_lines: most, after: next });
      pages = [...pages, ...shown({ ...cut, body })];
      next = body.next;
    }
    t.same(pages, all, 'page by page, each line once');
  }
});

t.test('context shows the lines around', async (t) => {
  const { body } = await grep({ pattern: '^fn', context: 1 });
  t.match(body.lines, [
    { line: 1, before: [], after: ['  // "Größe" 😀 of\tfile'] },
    { line: 5, before: [''], after: ['let FN = 1;'] },
  ]);
});

t.test('a wrong request is refused with what is wrong, in an empty workspace too', async (t) => {
  const empty = await agent.rent();
  t.match(await grep({ pattern: 'gull' }, empty), { status: 200, body: { lines: [], truncated: false } });
  for (const place of [workspace, empty])
    for (const [asked, field, detail] of [
      [{ pattern: 'é(b' }, 'pattern', /^pattern: unclosed group \(at character 2\)\.$/],
      [{ pattern: '(?=a)b' }, 'pattern', /look-around/],
      [{ pattern: 'a\\nb' }, 'pattern', /line break/],
      [{ pattern: '(\\w{100}){100}' }, 'pattern', /too large/],
      [{ pattern: 'x'.repeat(1001) }, 'pattern', /1000/],
      [{ query: 'x' }, 'pattern', /missing/],
      [{ pattern: 'x', max_lines: 1001 }, 'max_lines', /1000/],
      [{ pattern: 'x', context: 11 }, 'context', /10/],
      [{ pattern: 'x', after: 'item_1' }, 'after', /after/],
      [{ pattern: 'x', filter: { nmae: 'x' } }, 'filter', /name/],
      [{ pattern: 'x', where: { name: 'x' } }, 'where', /filter/],
    ] as const)
      t.match(
        await grep(asked, place),
        { status: 400, body: { code: 'field_invalid', field, detail } },
        JSON.stringify(asked),
      );
  t.match((await grep({ pattern: 'fn', ignorecase: true })).body.warnings, [/ignore_case/]);
});

t.test('a pattern that other engines take for ever for is answered', async (t) => {
  const { body } = await workspace.ingest('as.txt', `${'a'.repeat(1000)}!`);
  const found = await grep({ pattern: '^(a+)+$', filter: { items: [body.item.id] } });
  t.match(found, { status: 200, body: { lines: [], truncated: false } });
});

t.test('another workspace’s token opens nothing, and its lines are its own', async (t) => {
  const other = await agent.rent();
  await other.ingest('own.txt', 'fn open() of another');
  t.same(shown(await grep({ pattern: 'fn open' }, other)), [['own.txt', 1, 'fn open() of another']]);
  const crossed = await fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/grep`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${other.token}` },
    body: '{"pattern":"fn"}',
  });
  t.equal(crossed.status, 401);
});
