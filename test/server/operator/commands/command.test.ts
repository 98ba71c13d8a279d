import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ServedProcess } from '../../../rig/served-process.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { farthing } from './farthing-command.ts';

t.test('the operator sees, shows and ends the workspaces of a running server', async (t) => {
  const data = join(t.testdir({}), 'data');
  const server = await startTestServer(t, { DATA_DIR: data });
  const agent = new TestAgent(server.url);
  const [one, other] = [await agent.rent({ ttl_minutes: 30 }), await agent.rent()];
  t.equal(statSync(join(data, 'admin.sock')).mode & 0o777, 0o600, 'for the owner alone');

  const listed = await farthing(data, ['workspaces', 'list']);
  const ids = listed.out.split('\n').flatMap((line) => line.split('  ')[0] || []);
  t.same(ids.toSorted(), [one.id, other.id].toSorted());
  const shown = await farthing(data, ['workspaces', 'show', one.id]);
  t.match(JSON.parse(shown.out), { id: one.id, state: 'active', ttl_minutes: 30, spend_usd: '0.025' });
  t.notMatch(shown.out + listed.out, /fws_/, 'no token');

  const disposed = await farthing(data, ['workspaces', 'dispose', one.id]);
  t.equal(disposed.code, 0);
  t.equal((await one.send('GET', '/usage')).status, 401);
  t.equal((await other.send('GET', '/usage')).status, 200);
  t.match(await farthing(data, ['workspaces', 'dispose', `ws_${'0'.repeat(32)}`]), {
    code: 1,
    err: /no workspace/,
  });

  const receipt = await farthing(data, ['receipt', 'verify', '-'], disposed.out);
  t.match(JSON.parse(receipt.out), { workspace: one.id, reason: 'operator' });
  const jwks = join(data, '../jwks.json');
  writeFileSync(jwks, await (await fetch(`${server.url}/.well-known/jwks.json`)).text());
  const answer = join(data, '../answer.json');
  writeFileSync(answer, JSON.stringify((await other.send('DELETE', '')).body));
  t.match(await farthing('/nowhere', ['receipt', 'verify', answer, jwks]), {
    code: 0,
    out: new RegExp(other.id),
  });
  const [head, , signature] = disposed.out.trim().split('.');
  const forged = Buffer.from(JSON.stringify({ workspace: other.id })).toString('base64url');
  t.match(await farthing(data, ['receipt', 'verify', '-'], `${head}.${forged}.${signature}`), {
    code: 1,
    err: /not valid/,
  });
});

t.test('a backup of a stopped server is restored with its workspaces, files and keys', async (t) => {
  const folder = t.testdir({});
  const [data, copy, again] = ['data', 'copy', 'again'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const server = await ServedProcess.start(t, { data, log: join(folder, 'log') });
  const workspace = await new TestAgent(server.url).rent({ ttl_minutes: 600 });
  await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  await server.kill();
  t.match(await farthing(data, ['workspaces', 'list']), { code: 1, err: /No server runs/ });
  t.match(await farthing(data, ['backup', copy]), { code: 0 });
  t.match(await farthing(data, ['backup', copy]), { code: 1, err: /exists already/ });
  t.match(await farthing(data, ['restore', copy]), { code: 1, err: /exists already/ });
  t.match(await farthing(again, ['restore', join(folder, 'nothing')]), { code: 1, err: /There is no/ });
  t.match(await farthing(again, ['restore', copy]), { code: 0 });

  const restored = await startTestServer(t, { DATA_DIR: again });
  const base = `${restored.url}/agent/v1/workspaces/${workspace.id}`;
  const headers = { Authorization: `Bearer ${workspace.token}` };
  const found = await fetch(`${base}/search`, { method: 'POST', headers, body: '{"query":"lighthouse"}' });
  t.equal(found.status, 200);
  t.match(await found.json(), { hits: [{ item: { name: 'gulls.txt' } }] });
  const usage = (await (await fetch(`${base}/usage`, { headers })).json()) as { ttl_seconds_left: number };
  t.ok(usage.ttl_seconds_left > 599 * 60 - 60, 'the time in between is given back');
});

t.test('after a rotation, receipts of the former key are still checked with what is published', async (t) => {
  const folder = t.testdir({});
  const data = join(folder, 'data');
  const server = await startTestServer(t, { DATA_DIR: data });
  const agent = new TestAgent(server.url);
  const [before, after] = [await agent.rent(), await agent.rent()];
  const receipt = async ({ send }: { send: typeof before.send }) =>
    (await send('DELETE', '')).body.receipt as string;
  const former = await receipt({ send: (...words) => before.send(...words) });
  const rotated = await farthing(data, ['keys', 'rotate']);
  t.equal(rotated.code, 0);
  const later = await receipt({ send: (...words) => after.send(...words) });
  const kidOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString()).kid;
  t.equal(kidOf(later), rotated.out.trim());
  t.not(kidOf(former), kidOf(later));

  const jwks = join(folder, 'jwks.json');
  const published = await (await fetch(`${server.url}/.well-known/jwks.json`)).text();
  writeFileSync(jwks, published);
  t.notMatch(published, /"d"/, 'no private part');
  for (const jws of [former, later])
    t.match(await farthing('/nowhere', ['receipt', 'verify', '-', jwks], jws), { code: 0 });
  const kept = JSON.parse(readFileSync(join(data, 'keys/receipt-keys.json'), 'utf8'));
  t.equal(kept.keys.filter(({ privateKey }: { privateKey?: object }) => privateKey).length, 1);

  t.equal(server.running.stop(), server.running.stop(), 'stopped twice, it stops once');
  await server.stop();
  const stopped = await farthing(data, ['keys', 'rotate']);
  t.equal(stopped.code, 0, 'of a stopped server too');
  t.match(await farthing(data, ['receipt', 'verify', '-'], former), { code: 0 });
});

t.test('a data folder of a newer version is refused and left as it is', async (t) => {
  const data = t.testdir({ version: '999\n' });
  await t.rejects(startTestServer(t, { DATA_DIR: data }), { name: 'Error', message: /version 999/ });
  t.match(await farthing(data, ['backup', join(data, 'copy')]), { code: 1, err: /version 999/ });
});

t.test('what is not a command, or is wrongly used, is answered with what is', async (t) => {
  t.match(await farthing('/nowhere', ['workspaces', 'lsit']), {
    code: 2,
    err: 'There is no "farthing admin workspaces lsit". Did you mean farthing admin workspaces list?\n',
  });
  t.match(await farthing('/nowhere', ['workspaces', 'show']), {
    code: 2,
    err: '"farthing admin workspaces show" wants more: farthing admin workspaces show ID\n',
  });
  t.match(await farthing('/nowhere', ['doctor', '--jsno']), {
    code: 2,
    err: '"farthing admin doctor" has no option --jsno. Did you mean --json?\n',
  });
});
