import { join, resolve } from 'node:path';
import sharp from 'sharp';
import { decode } from 'sixel';
import t, { type Test } from 'tap';
import { protocolOfEnvironment } from '../../src/cli/terminal-pictures.ts';
import { startTestServer } from '../rig/test-server.ts';
import { Agent } from './cli-agent.ts';
import { noTerminal, runInTerminal, visible } from './terminal.ts';

/** The command in a terminal of its own (a pty, by `script` of util-linux), which answers as terminals do. */

t.setTimeout(600_000);
const samples = resolve(import.meta.dirname, '../../samples');
const SEARCH = ['search', '--image', join(samples, 'chelsea.png'), '--family', 'visual', '-k', '2'];
const server = await startTestServer(t);
// Beside the server's: a second testdir would empty the first.
const agent = new Agent(join(server.dataFolder, '../home'), server.url);
await agent.run(['wallet', 'new']);
await agent.run(['workspace', 'create']);
await agent.run([
  'ingest',
  join(samples, 'chelsea.png'),
  join(samples, 'almanac.pdf'),
  join(samples, 'tea.txt'),
]);

/** What the terminal was sent. @param reply to the question which pictures it shows */
async function inTerminal(
  environment: Record<string, string>,
  reply = '',
  words: readonly string[] = SEARCH,
): Promise<string> {
  const { code, out } = await runInTerminal(agent, words, {
    environment,
    replies: [{ to: '\u001b[c', reply }],
  });
  if (code !== 0) throw new Error(`the command ended with ${code}: ${out}`);
  return out;
}

async function looksLikeTheCat(t: Test, png: Buffer): Promise<void> {
  const { width, height, format } = await sharp(png).metadata();
  t.match({ format, height }, { format: 'png', height: 200 });
  t.ok(width! > 250 && width! < 350, `${width} wide, as the picture is`);
}

t.test('kitty is known by its variables and gets a PNG in pieces', { skip: noTerminal }, async (t) => {
  const seen = await inTerminal({ TERM: 'xterm-kitty' });
  t.notOk(seen.includes('␛[c'), 'it was not asked');
  const pieces = [...seen.matchAll(/␛_G([^;]*);([^␛]*)␛\\/g)];
  const first = pieces.findIndex(([, keys]) => keys!.startsWith('f=100,a=T'));
  const last = pieces.findIndex(([, keys]) => keys!.endsWith('m=0'));
  t.equal(first, 0);
  t.ok(pieces.every(([, , data]) => data!.length <= 4096));
  await looksLikeTheCat(
    t,
    Buffer.from(
      pieces
        .slice(first, last + 1)
        .map(([, , data]) => data)
        .join(''),
      'base64',
    ),
  );
});

t.test('a terminal that is asked says that it is like kitty', { skip: noTerminal }, async (t) => {
  const seen = await inTerminal({ TERM: 'xterm-256color' }, '\u001b_Gi=31;OK\u001b\\\u001b[?62;c');
  t.match(seen, /␛_Gf=100,a=T/);
});

t.test('iTerm2 gets an inline file', { skip: noTerminal }, async (t) => {
  const seen = await inTerminal({ TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' });
  const [, size, data] = /␛\]1337;File=inline=1;size=(\d+);height=10;preserveAspectRatio=1:([^␇]+)␇/.exec(
    seen,
  )!;
  const png = Buffer.from(data!, 'base64');
  t.equal(png.length, Number(size));
  await looksLikeTheCat(t, png);
});

t.test('a terminal that says so gets sixels', { skip: noTerminal }, async (t) => {
  const seen = await inTerminal({ TERM: 'xterm-256color' }, '\u001b[?62;4;22c');
  const sixels = /␛P[\d;]*q[^␛]*␛\\/.exec(seen)![0];
  const { width, height } = decode(Buffer.from(sixels.replaceAll('␛', '\u001b'), 'latin1'));
  t.ok(height >= 200 && height < 206, `${height} high: sixels come in sixes`);
  t.ok(width > 250 && width < 350);
});

t.test(
  'a terminal without pictures, a multiplexer that shows none, and a pipe get the table alone',
  { skip: noTerminal },
  async (t) => {
    const plain = await inTerminal({ TERM: 'vt220' }, '\u001b[?62;22c');
    t.match(plain, /chelsea\.png/);
    t.notMatch(plain.replace('␛_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA␛\\', ''), /␛[_P\]]/);
    const inside = await inTerminal({ TERM: 'screen', TMUX: '/tmp/x', KITTY_WINDOW_ID: '1' }, '\u001b[?1;2c');
    t.notMatch(inside, /␛_Gf=100/);
    t.notMatch(await inTerminal({ TERM: 'dumb' }), /␛/);
    t.notMatch(visible((await agent.launch(SEARCH)).out), /␛/);
    t.notMatch(await inTerminal({ TERM: 'xterm-kitty' }, '', [...SEARCH, '--pictures', 'none']), /␛_G/);
  },
);

t.test('outside a workspace a picture is paid for, so it is asked for by name', async (t) => {
  const wallet = new Agent(t.testdir({}), server.url);
  await wallet.run(['wallet', 'new']);
  await wallet.run(['ingest', join(samples, 'chelsea.png')]);
  const without = await wallet.run(SEARCH);
  t.notMatch(visible(without.out), /␛/);
  const asked = await wallet.run([...SEARCH, '--pictures', 'iterm']);
  t.match(visible(asked.out), /␛\]1337;File=/);
  t.match(await wallet.run([...SEARCH, '--pictures', 'tv']), { code: 2, err: /--pictures is/ });
});

t.test('variables of a multiplexer tell nothing', async (t) => {
  t.equal(protocolOfEnvironment({ TERM_PROGRAM: 'WezTerm' }), 'iterm');
  t.equal(protocolOfEnvironment({ TERM_PROGRAM: 'ghostty' }), 'kitty');
  t.equal(protocolOfEnvironment({ LC_TERMINAL: 'iTerm2' }), 'iterm');
  t.equal(protocolOfEnvironment({ LC_TERMINAL: 'iTerm2', TMUX: '1' }), undefined);
  t.equal(protocolOfEnvironment({ TERM: 'xterm-256color' }), undefined);
});
