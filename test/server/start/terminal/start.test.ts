import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t from 'tap';
import { Agent, LAUNCHER } from '../../../cli/cli-agent.ts';
import { lacksProgram } from '../../../rig/run-program.ts';
import { spawnBuilt } from '../built-process.ts';

/** `script` gives the server a terminal. */
const withoutTerminal = lacksProgram('script');

t.test(
  'on a terminal a start shows its steps, its addresses, whose money it is, and a key that searches without any',
  { skip: withoutTerminal },
  async (t) => {
    const { child, ended } = spawnBuilt(t, { DEMO: '0' }, { terminal: true });
    const said: string[] = [];
    for await (const line of createInterface(child.stdout!)) {
      said.push(line);
      if (/in a browser/.test(line)) break;
    }
    const url = /API +(http\S+)\/openapi/.exec(said.join('\n'))![1]!;
    const key = /export FARTHING_KEY=(fhk_\S+)/.exec(said.join('\n'))?.[1];
    const agent = new Agent(t.testdirName, url, { FARTHING_KEY: key! });
    const file = join(t.testdirName, 'gulls.txt');
    writeFileSync(file, 'The lighthouse keeper counts gulls at dawn.');
    t.match(await agent.launch(['ingest', file]), { code: 0, err: /1 file made searchable/ });
    t.match(await agent.launch(['search', 'who watches birds in the morning?']), {
      code: 0,
      out: /gulls\.txt/,
    });
    t.match(await agent.run(['workspace', 'list']), { code: 0, out: /^ws_\S+ .* files\n$/ });
    t.match(await agent.run(['workspace', 'usage']), { code: 0, out: /spent/ });
    const host = new Client({ name: 'test', version: '1' });
    const args = [LAUNCHER, 'mcp'];
    await host.connect(
      new StdioClientTransport({ command: process.execPath, args, env: { ...agent.environment } }),
    );
    const found = await host.callTool({ name: 'search', arguments: { query: 'gulls' } });
    t.match(JSON.stringify(found), /gulls\.txt/, 'the tools over stdio');
    await host.close();
    t.match(await agent.run(['workspace', 'dispose', '--yes']), { code: 0, out: /is destroyed: 1 file/ });
    t.match(await agent.run(['search', 'gulls']), { code: 1, err: /opens no workspace yet/ });
    child.kill('SIGTERM');
    child.stdout!.resume();
    await ended;
    const text = said.join('\n');
    t.match(text, /✓ models: [^\n]+ms|✓ models: [^\n]+ s/);
    t.match(text, /console +(http:\/\/127\.0\.0\.1:\d+\/)/);
    t.match(text, /payments +play money/);
    t.ok(existsSync(join(/docs +(\S+)/.exec(text)![1]!, 'operating.md')), 'the documents are there');
    t.match(text, new RegExp(`data +${join(t.testdirName, 'data')}`));
    t.match(text, /Open http:\/\/127\.0\.0\.1:\d+ in a browser/);
    t.notMatch(text, /[{"]event"|NVIDIA/);
    t.ok(said.length < 25, `${said.length} lines`);
  },
);
