import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import t from 'tap';
import { listening } from '../rig/ports.ts';
import { lacksProgram } from '../rig/run-program.ts';
import { startTestServer } from '../rig/test-server.ts';
import { Agent, COMMAND } from './cli-agent.ts';

const samples = resolve(import.meta.dirname, '../../samples');
const server = await startTestServer(t);

t.test('a wallet is made once, readable by its owner only, and its key is not shown', async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  t.match(await agent.run(['wallet', 'show']), { code: 4, err: /wallet new/ });
  t.match(await agent.run(['search', 'gulls', '--no-workspace']), { code: 4, err: /wallet new/ });
  const made = await agent.json<{ address: string; file: string }>(['wallet', 'new']);
  t.equal(statSync(made.file).mode & 0o777, 0o600);
  t.match(await agent.run(['wallet', 'new']), { code: 1, err: /already/ });
  const shown = await agent.launch(['wallet', 'show']);
  t.equal(shown.out.trim(), made.address);
  const { private_key } = JSON.parse(readFileSync(made.file, 'utf8')) as { private_key: string };
  t.notOk((shown.out + shown.err + JSON.stringify(made)).includes(private_key));
  chmodSync(made.file, 0o644);
  t.match(await agent.run(['wallet', 'show']), { code: 1, err: /chmod 600/ });
});

t.test('files go up, are found with page and snippet, and the workspace ends with its receipt', async (t) => {
  const three = ['almanac.pdf', 'chelsea.png', 'lighthouses.md'].map((name) => [
    name,
    readFileSync(join(samples, name)),
  ]);
  const agent = new Agent(t.testdir({ files: Object.fromEntries(three) }), server.url);
  const files = join(agent.home, 'files');
  await agent.run(['wallet', 'new']);
  t.match(
    await agent.run(['workspace', 'create', '-m', '120']),
    { code: 2, err: /^The price is 0\.07 USD.*--yes.*Nothing was paid\.\n$/ },
    'nobody can be asked',
  );
  const made = await agent.json<{ id: string }>(['workspace', 'create', '-m', '120', '--yes']);
  t.notMatch(JSON.stringify(made), /fws_/, 'the token is kept, not shown');
  t.match(await agent.run(['ingest', files]), { code: 2, err: /--recursive/ });
  const ingested = await agent.run(['ingest', '-r', files]);
  t.match(ingested, { code: 0, err: /^3 files made searchable$/m }, ingested.err);
  const found = await agent.run([
    'search',
    'how',
    'do',
    'insects',
    'tell',
    'each',
    'other',
    'where',
    'food',
    'is?',
    '-k',
    '2',
    '-f',
    'text_semantic',
  ]);
  t.equal(found.code, 0, found.err);
  t.match(found.out, /^almanac\.pdf\tp\. \d+\t0\.\d\d\t\S/m);
  t.match(await agent.run(['search', 'lightouse']), { code: 0, err: /^Understood as: lighthouses?$/m });
  const byPicture = await agent.json<{ hits: { item: { name: string } }[] }>([
    'search',
    '--image',
    join(samples, 'chelsea.png'),
    '--family',
    'visual',
  ]);
  t.equal(byPicture.hits[0]!.item.name, 'chelsea.png');
  t.match(await agent.run(['search', 'x', '--family', 'visul']), { code: 2, err: /Did you mean visual/ });
  t.match(await agent.run(['workspace', 'usage']), { code: 0, out: /^searches +3, half of them within/m });
  t.match(await agent.json(['workspace', 'extend', '-m', '10']), { ttl_minutes: 10 });
  for (const command of ['create', 'extend'])
    t.match(
      await agent.run(['workspace', command, '-m', '99999', '--yes']),
      { code: 2, err: /sells 1 to 1440 minutes at a time, not 99999\. --minutes 1440 .*Nothing was paid/ },
      'other minutes than were asked for are not bought',
    );
  t.match(await agent.run(['workspace', 'list']), { out: new RegExp(`^\\* +${made.id} +\\d+ hours? `) });
  const file = join(agent.home, 'all.ndjson');
  t.match(await agent.run(['workspace', 'export', file, '--vectors']), { code: 0, out: /all\.ndjson, / });
  t.match(await agent.run(['workspace', 'import', file]), {
    code: 0,
    err: /^0 files made searchable, 3 unchanged\nThe vectors were left out/,
  });
  t.match(await agent.run(['workspace', 'import', join(samples, 'almanac.pdf')]), { err: /is no export/ });
  await agent.run(['workspace', 'use', 'none']);
  t.match(await agent.run(['workspace', 'usage']), { code: 2, err: /Which workspace/ });
  t.match(
    await agent.run(['workspace', 'dispose', made.id]),
    { code: 2, err: /^This destroys ws_\w+ \(3 files, .* left\) for good.*--yes/ },
    'nobody can be asked',
  );
  const disposal = await agent.json<{ receipt: string; file: string }>([
    'workspace',
    'dispose',
    made.id,
    '-y',
  ]);
  t.match(disposal, { claims: { workspace: made.id } });
  t.equal(readFileSync(disposal.file, 'utf8').trim(), disposal.receipt);
});

t.test('a workspace’s token is sent to its own server only', async (t) => {
  const heard: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    heard.push(request.headers.authorization);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  const { url: elsewhere } = await listening(t, other);
  const agent = new Agent(t.testdir({}), server.url);
  await agent.run(['wallet', 'new']);
  const { id } = await agent.json<{ id: string }>(['workspace', 'create']);
  t.match(await agent.run(['search', 'gulls', '--server', elsewhere]), { code: 5 });
  t.same(heard, [undefined], 'the search was sent, without it');
  t.match(await agent.run(['workspace', 'usage', '--server', elsewhere]), {
    code: 2,
    err: /Which workspace/,
  });
  for (const words of [['search', 'gulls'], ['mcp']])
    t.match(await agent.run([...words, '-w', id, '--server', elsewhere]), { code: 2, err: /is at http/ });
  t.equal(heard.length, 1, 'nothing was sent');
  t.match(await agent.run(['workspace', 'usage', '--server', `${server.url}/`]), { code: 0 });
});

t.test('what is meant for a workspace that has ended is not paid by the call instead', async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  await agent.run(['wallet', 'new']);
  const { id } = await agent.json<{ id: string }>(['workspace', 'create']);
  t.match(await agent.run(['workspace', 'dispose', '--yes']), {
    code: 0,
    out: `${id} is destroyed: 0 files`,
    err: /^The signed receipt, checked, is in /,
  });
  const refused = { code: 3, out: '', err: /was destroyed.*\n.*workspace use none/ };
  for (const words of [
    ['search', 'gulls'],
    ['workspace', 'usage'],
    ['ingest', samples, '-r'],
  ])
    t.match(await agent.run(words), refused);
  t.match(await agent.run(['workspace', 'list']), {
    out: '',
    err: new RegExp(`^${id}, the current workspace of .* has ended \\(destroyed\\).*\\n[^]*None: `),
  });
  t.match(await agent.run(['workspace', 'list', '--json']), { code: 0, out: '' });
  await agent.run(['workspace', 'use', 'none']);
  t.match(await agent.run(['search', 'gulls']), { code: 0, err: /Nothing is searchable/ });

  const over = await agent.json<{ id: string }>(['workspace', 'create']);
  const path = join(agent.home, 'config', 'farthing', 'workspaces.json');
  const memory = JSON.parse(readFileSync(path, 'utf8')) as { known: Record<string, object> };
  memory.known[over.id] = { server: server.url, token: 'fws_gone', expires_at: '2026-01-31T00:00:00.000Z' };
  writeFileSync(path, JSON.stringify(memory), { mode: 0o600 });
  for (const words of [
    ['ingest', samples, '-r'],
    ['search', 'gulls'],
  ])
    t.match(await agent.run(words), { code: 3, err: /has expired/ });
  t.match(
    await agent.run(['workspace', 'dispose']),
    { code: 3, err: /does not know/ },
    'its receipt is asked for',
  );
});

t.test('each server has a current workspace, and the environment names the server', async (t) => {
  const home = t.testdir({});
  const here = new Agent(home, server.url);
  await here.run(['wallet', 'new']);
  const { id } = await here.json<{ id: string }>(['workspace', 'create']);
  const elsewhere = new Agent(home, 'http://127.0.0.1:1');
  t.match(await elsewhere.run(['search', 'gulls']), { code: 5, err: /from http:\/\/127\.0\.0\.1:1:/ });
  t.match(await elsewhere.run(['search', 'gulls', '-w', id]), { code: 2, err: /FARTHING_URL says/ });
  t.match(await here.json(['workspace', 'usage']), { id });
  const unnamed = new Agent(home, '');
  t.match(await unnamed.json(['workspace', 'usage']), { id }, 'the server used last');
});

t.test('without a workspace each call is paid, within the budget', async (t) => {
  const home = t.testdir({ 'gull.txt': 'A gull.', 'tern.txt': 'A tern.' });
  const agent = new Agent(home, server.url);
  await agent.run(['wallet', 'new']);
  t.match(
    await agent.run([
      'ingest',
      join(home, 'gull.txt'),
      join(home, 'tern.txt'),
      '-c',
      '1',
      '--budget',
      '0.05',
    ]),
    {
      code: 4,
      err: /2 files.*paid one by one +0\.06 USD.*more than the budget of 0\.05 USD: --budget 0\.06/s,
    },
  );
  const both = ['ingest', join(home, 'gull.txt'), join(home, 'tern.txt')];
  t.match(await agent.run(both), { code: 2, err: /^The price is 0\.06 USD.*Nothing was paid\.\n$/ });
  t.match(
    await agent.run(['search', 'gull']),
    { code: 0, out: '', err: /Nothing is searchable/ },
    'nothing was sent',
  );
  t.match(await agent.run([...both, '--ask-above', '0.06']), { code: 0, err: /2 files made searchable/ });
  t.match(await agent.json(['search', 'gull']), { charged: true, hits: [{ item: { name: 'gull.txt' } }] });
  t.match(await agent.run(['search', 'gull', '--max-price', '0.001']), {
    code: 4,
    err: /--max-price 0\.006 allows it\. Nothing was paid/,
  });
});

const NOTES = 30;

/** Files in two folders, one inside the other. */
function writeNotes(folder: string): void {
  mkdirSync(join(folder, 'deep'), { recursive: true });
  for (let index = 0; index < NOTES; index++)
    writeFileSync(join(folder, index % 2 ? 'deep' : '', `note-${index}.txt`), `Note ${index} of the keeper.`);
}

t.test('an interrupted, then killed ingest of a folder resumes', async (t) => {
  const home = t.testdir({});
  const folder = join(home, 'files');
  writeNotes(folder);
  const agent = new Agent(home, server.url);
  await agent.run(['wallet', 'new']);
  await agent.run(['workspace', 'create', '--yes']);
  const words = ['ingest', '-r', folder, '--json', '-c', '2'];
  /** Runs until so many files are told of, then ends it. */
  const runUntil = async (count: number, signal: NodeJS.Signals, script?: string) => {
    let seen = 0;
    let sent = false;
    const ended = await agent.launch(
      words,
      (text, end) => {
        seen += text.split('\n').length - 1;
        if (seen < count || sent) return;
        // Once: a second interruption ends a command at once, as it should.
        sent = true;
        end(signal);
      },
      script,
    );
    return { ...ended, told: ended.out.split('\n').filter((line) => line.endsWith('}')).length };
  };
  const interrupted = await runUntil(3, 'SIGINT', COMMAND);
  t.equal(interrupted.code, 130, interrupted.err);
  t.equal(interrupted.err, `${interrupted.told} of ${NOTES} done; run the same command to resume.\n`);
  t.ok(
    interrupted.told >= 3 && interrupted.told < NOTES,
    `${interrupted.told} files before the interruption`,
  );
  const killed = await runUntil(3, 'SIGKILL', COMMAND);
  t.equal(killed.code, null);
  const orphaned = await runUntil(3, 'SIGKILL');
  t.equal(orphaned.code, null, 'the launcher was killed, and its command ended with it');
  const before = interrupted.told + killed.told + orphaned.told;
  t.ok(before < NOTES, `${before} files before the last run`);

  const last = await agent.run(words);
  t.equal(last.code, 0, last.err);
  const { summary } = JSON.parse(last.out.trim().split('\n').at(-1)!) as { summary: Record<string, number> };
  // A kill may come between the note of a file and the line that tells of it.
  t.ok(
    summary.skipped! >= before && summary.skipped! <= before + 4,
    `${summary.skipped} of ${before} skipped`,
  );
  t.equal(summary.skipped! + summary.ingested! + summary.duplicates!, NOTES);
  t.match(await agent.json(['workspace', 'usage']), { items: NOTES });
  t.match(await agent.run(['ingest', '-r', folder]), { err: /^0 files made searchable, 30 there already$/m });
  writeFileSync(join(folder, 'note-0.txt'), 'Note 0, as it is now.');
  t.match(await agent.run(['ingest', '-r', folder]), { err: /^1 file made searchable, 29 there already$/m });
  t.equal(readdirSync(join(home, 'state', 'farthing')).length, 1);
});

t.test('a refused file fails alone, and the exit code says so', async (t) => {
  const odd = '\u007fELF\u0002\u0001\u0001'.padEnd(200, '\0');
  const agent = new Agent(
    t.testdir({ files: { 'gull.txt': 'A gull.', 'odd.bin': odd, 'more.bin': `${odd}.`, 'empty.txt': '' } }),
    server.url,
  );
  await agent.run(['wallet', 'new']);
  await agent.run(['workspace', 'create']);
  t.match(await agent.run(['ingest', '-r', join(agent.home, 'files')]), {
    code: 6,
    err: /^1 file made searchable\nNot taken: 3 files\n {2}2 {2}The file type cannot be read: \w+\.bin, \w+\.bin\n {2}1 {2}The file has 0 bytes: empty\.txt\n$/,
  });
});

t.test('the completion is valid bash', async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  const { out } = await agent.run(['completion', 'bash']);
  const completed = (...words: string[]) => {
    const asked = `COMP_WORDS=(farthing ${words.join(' ')}); COMP_CWORD=${words.length}; _farthing; echo "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', `${out}\n${asked}`], { encoding: 'utf8' }).stdout.trim();
  };
  t.equal(completed('wor'), 'workspace');
  t.equal(completed('admin', 'w'), 'workspaces');
  t.equal(completed('admin', 'workspaces', 'd'), 'dispose');
  t.equal(completed('workspace', 'create', '--min'), '--minutes');
  t.equal(completed('admin', 'ledger', 'export', '--f'), '--format');
});

t.test('the completion is valid zsh', { skip: lacksProgram('zsh') }, async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  const { out } = await agent.run(['completion', 'zsh']);
  // What completion adds is printed; the rest of it wants a terminal.
  const asked = `compdef() { : }; compadd() { shift; print -- $*; }; _files() { print files; }
${out}
words=(farthing workspace d); CURRENT=3; _farthing; words=(farthing s); CURRENT=2; _farthing
words=(farthing admin ledger e); CURRENT=4; _farthing`;
  const { stdout, stderr } = spawnSync('zsh', ['-fc', asked], { encoding: 'utf8' });
  const [inside, files, first, admin] = stdout.trim().split('\n');
  t.equal(inside, 'create list use usage extend end-reserve export import dispose --help', stderr);
  t.equal(files, 'files');
  t.match(first, /^search ingest workspace wallet/);
  t.equal(admin, 'export reconcile refunded --help');
});
