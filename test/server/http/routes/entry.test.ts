import { join } from 'node:path';
import t from 'tap';
import type { AgentCard } from '../../../../src/protocol/schema/service.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** Pages for clients that know only the server's address. */

const folders = t.testdir({});
const server = await startTestServer(t, { CONTACT: 'operator@example.org', DATA_DIR: join(folders, 'a') });
const bare = await startTestServer(t, {
  CONSOLE: '0',
  X402_BODY_NETWORK: 'base',
  DATA_DIR: join(folders, 'b'),
});
const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

t.test('a program at / is led to what it can read; a browser gets the console', async (t) => {
  const program = await get('/');
  t.match(program.headers.get('content-type'), /^text\/plain/);
  t.match(program.headers.get('link'), /<\/llms\.txt>.*<\/openapi\.json>; rel="service-desc"/);
  t.match(program.headers.get('vary'), /Accept\b/);
  const text = await program.text();
  t.match(text, `${server.url}/agents.md`);
  t.match(text, /any key works/);
  const browser = await get('/', { Accept: 'text/html,*/*;q=0.8' });
  t.match(browser.headers.get('link'), /llms\.txt/);
  t.notMatch(await browser.text(), /# Farthing/);
});

t.test('without a console, / is text for browsers too', async (t) => {
  t.match(await (await fetch(bare.url, { headers: { Accept: 'text/html' } })).text(), /# Farthing/);
});

t.test('crawlers, browsers and catalogues find what they look for', async (t) => {
  t.match(await (await get('/robots.txt')).text(), /User-agent: \*\nDisallow: \/agent\//);
  t.match((await get('/favicon.ico')).headers.get('content-type'), /^image\//);
  const { resources, instructions } = (await (await get('/.well-known/x402')).json()) as {
    resources: string[];
    instructions: string;
  };
  t.match(instructions, /POST \/agent\/v1\/search/);
  t.ok(resources.includes(`${server.url}/agent/v1/search`));
  t.equal(resources.length, 8, 'every paid operation');
  t.match(await (await get('/.well-known/mcp/server-card.json')).json(), {
    name: 'local/farthing',
    remotes: [{ type: 'streamable-http', url: `${server.url}/mcp` }],
    serverInfo: { name: 'farthing', version: /^\d/ },
  });
  const [serverCard, alias] = await Promise.all(
    ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json'].map(async (path) =>
      (await get(path)).text(),
    ),
  );
  t.equal(serverCard, alias, 'the same at both addresses');
  const card = (await (await get('/.well-known/agent-card.json')).json()) as AgentCard;
  t.match(card, {
    name: 'Farthing',
    supportedInterfaces: [{ url: `${server.url}/mcp` }, { url: server.url }],
  });
  t.equal(card.skills.length, resources.length, 'every paid operation is a skill');
  const security = await (await get('/.well-known/security.txt')).text();
  t.match(security, /^Contact: mailto:operator@example\.org\nExpires: \d{4}-\d\d-\d\dT00:00:00\.000Z\n/);
  const expires = Date.parse(/Expires: (\S+)/.exec(security)![1]!);
  t.ok(expires > Date.now() && expires < Date.now() + 365 * 86_400_000, 'it ends within a year');
  t.equal((await fetch(`${bare.url}/.well-known/security.txt`)).status, 404, 'no contact, no page');
});

t.test('the description names the operator, and guides', async (t) => {
  const { info } = (await (await get('/openapi.json')).json()) as { info: object };
  t.match(info, { contact: { email: 'operator@example.org' }, 'x-guidance': /agents\.md/ });
});

t.test('who reads the guide knows whether its client can pay', async (t) => {
  for (const path of ['/agents.md', '/llms.txt'])
    t.match(await (await get(path)).text(), /v1 \(x402-fetch, x402-axios\) cannot/);
  t.match(await (await fetch(`${bare.url}/llms.txt`)).text(), /v2 and v1 can pay/);
});

t.test(
  'a wrong value is answered with allowed ones, an unknown field with the one that was meant',
  async (t) => {
    const workspace = await new TestAgent(server.url).rent();
    const ask = (body: object) => workspace.send('POST', '/search', JSON.stringify(body));
    t.match(await ask({ query: 'x', families: ['words'] }), {
      status: 400,
      body: { field: 'families', allowed: ['visual', 'text_semantic', 'raw'] },
    });
    t.match((await ask({ q: 'x' })).body.detail, /query/);
    t.match((await ask({ query: 'x', familes: ['raw'] })).body.warnings, [/families/]);
  },
);
