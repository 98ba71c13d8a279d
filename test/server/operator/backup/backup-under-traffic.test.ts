import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openBooks, tenantFolders } from '../../../rig/stopped-books.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { farthing } from '../commands/farthing-command.ts';

const WORDS = ['gull', 'anchor', 'harbour', 'lantern', 'tide', 'compass'];

/** Uploads one small file after the other until it is told to stop. @returns how many were answered. */
async function upload(
  send: (name: string, text: string) => Promise<{ status: number }>,
  over: () => boolean,
) {
  let done = 0;
  for (; !over(); done += 1) {
    const { status } = await send(`${done}.txt`, `The ${WORDS[done % WORDS.length]} number ${done}.`);
    if (status !== 200) throw new Error(`an upload was answered ${status}`);
  }
  return done;
}

t.test('a backup taken under traffic is restored as one consistent server', async (t) => {
  const folder = t.testdir({});
  const [data, copy, again] = [join(folder, 'data'), join(folder, 'copy'), join(folder, 'again')];
  const server = await startTestServer(t, { DATA_DIR: data });
  const agent = new TestAgent(server.url);
  const quiet = await agent.rent({ ttl_minutes: 600 });
  const busy = [await agent.rent({ ttl_minutes: 600 }), await agent.rent({ ttl_minutes: 600 })];
  const doomed = await agent.rent({ ttl_minutes: 600 });
  const secret = 'zqsecretofthedoomed';
  await quiet.ingest('dawn.txt', 'The lighthouse keeper counts gulls at dawn.');
  await doomed.ingest('doomed.txt', `Nobody may read ${secret}.`);
  await agent.ingest('paid.txt', 'Paid for before the backup.');

  let over = false;
  const payer = new TestAgent(server.url);
  const running = [
    ...busy.map((workspace) =>
      upload(
        (name, text) => workspace.ingest(name, text),
        () => over,
      ),
    ),
    upload(
      (name, text) => payer.ingest(name, text),
      () => over,
    ),
    upload(
      async () => ({ status: (await (await agent.rent()).send('DELETE', '')).status }),
      () => over,
    ),
  ];
  const deletion = (async () => (await doomed.send('DELETE', '')).body)();
  const backup = await farthing(data, ['backup', copy]);
  over = true;
  const answered = await Promise.all(running);
  t.comment(`${answered} uploads and deletions meanwhile`);
  t.match(backup, { code: 0, err: '' });
  const { receipt } = await deletion;
  t.match(await farthing(data, ['backup', copy]), { code: 1, err: /exists already/ });
  await server.stop();
  t.equal(readdirSync(folder).length, 2, 'no draft is left');
  const copied = readdirSync(copy, { recursive: true, withFileTypes: true });
  for (const entry of copied.filter((entry) => entry.isFile()))
    t.notOk(readFileSync(join(entry.parentPath, entry.name)).includes(secret), entry.name);

  t.match(await farthing(again, ['restore', copy]), { code: 0 });
  const restored = await startTestServer(t, { DATA_DIR: again });
  const seen = (one: TestWorkspace) => new TestWorkspace(restored.url, one.id, one.token);
  t.match((await seen(quiet).search({ query: 'lighthouse' })).body, {
    hits: [{ item: { name: 'dawn.txt' } }],
  });
  t.equal((await seen(doomed).send('DELETE', '')).body.receipt, receipt, 'its end is in the backup');
  for (const workspace of busy) {
    const { body } = await seen(workspace).send('GET', '/items?limit=200');
    for (const item of body.items) {
      const job = item.id.replace('item_', 'job_');
      const ended = await seen(workspace).send('GET', `/jobs/${job}`);
      t.match(ended.body, { state: /^(accepted|extracting|encoding|committing|searchable)$/ });
      const url = `${restored.url}/agent/v1/workspaces/${workspace.id}/items/${item.id}/content`;
      const file = await fetch(url, { headers: { Authorization: `Bearer ${workspace.token}` } });
      const bytes = Buffer.from(await file.arrayBuffer());
      t.equal(createHash('sha256').update(bytes).digest('hex'), item.sha256, `file of ${item.name}`);
    }
    t.match((await seen(workspace).ingest('last.txt', 'The last of them.')).body.job, {
      state: 'searchable',
    });
    const after = (await seen(workspace).send('GET', '/items?limit=200')).body.items;
    t.ok(
      after.every(({ state }: { state: string }) => state === 'searchable'),
      'no item waits for ever',
    );
  }
  const paid = await new TestAgent(restored.url, payer.account).post('/agent/v1/search', {
    query: 'anchor',
  });
  t.equal(paid.status, 200);
  const { claims } = (await seen(quiet).send('DELETE', '')).body;
  for (const kept of [/backup/, /its payments/, /its jobs/])
    t.ok(
      claims.kept.some(({ what }: { what: string }) => kept.test(what)),
      `its receipt owns to ${kept}`,
    );
  t.notOk(
    JSON.stringify((await (await new TestAgent(restored.url).rent()).send('DELETE', '')).body).includes(
      'backup',
    ),
  );
  await restored.stop();

  const books = await openBooks(again);
  t.teardown(() => books.close());
  const { settled } = books.ledger.totals();
  const transfers = books.rows<{ value: string }>('local_transfers');
  const sum = transfers.reduce((total, { value }) => total + BigInt(value.value), 0n);
  t.same(settled, { count: transfers.length, amount: String(sum) }, 'books and ledger agree');
  const living = books.rows<{ state: string }>('workspaces').filter(({ value }) => value.state === 'active');
  const folders = await tenantFolders(again);
  for (const name of folders.filter((name) => name.startsWith('ws_')))
    t.ok(
      living.some(({ key }) => key === name),
      'every folder has its workspace',
    );
  t.notOk(folders.includes(doomed.id));
});
