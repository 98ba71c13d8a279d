import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { zipOf } from '../../readers/samples/archives.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../rig/test-server.ts';

t.test('a server with a damaged index and an open job serves the others', async (t) => {
  const DATA_DIR = `${t.testdir({})}/data`;
  const first = await startTestServer(t, { DATA_DIR });
  const agent = new TestAgent(first.url);
  const [damaged, whole] = [await agent.rent(), await agent.rent()];
  await whole.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const many = Array.from({ length: 60 }, (_, index) => [`${index}.txt`, `Sheep number ${index}.`]);
  const form = new FormData();
  form.set('file', new File([new Uint8Array(zipOf(Object.fromEntries(many)))], 'many.zip'));
  const { body } = await damaged.send('POST', '/ingest', form);
  await first.stop();
  writeFileSync(join(DATA_DIR, 'tenants', damaged.id, 'shard', 'data.mdb'), Buffer.alloc(65_536, 7));

  const second = await startTestServer(t, { DATA_DIR });
  const again = ({ id, token }: TestWorkspace) => new TestWorkspace(second.url, id, token);
  const { hits } = (await again(whole).search({ query: 'who watches birds?' })).body;
  t.match(hits[0], { item: { name: 'gulls.txt' } });
  t.match(await again(damaged).search({ query: 'sheep' }), {
    status: 500,
    body: { code: 'shard_corrupt' },
  });
  const job = (await again(damaged).send('GET', `/jobs/${body.job_id}`)).body;
  t.notMatch(job.state, /searchable|failed|cancelled/, 'its job waits for an index that can be read');
  t.match(await again(damaged).send('DELETE', ''), { status: 200, body: { state: 'disposed' } });
});
