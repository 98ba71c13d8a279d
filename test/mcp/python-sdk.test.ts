import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { TOOL_NAMES } from '../../src/mcp/tools.ts';
import { Agent } from '../cli/cli-agent.ts';
import { onlyDeep } from '../rig/deep.ts';
import { pythonWith } from '../rig/python.ts';
import { startTestServer } from '../rig/test-server.ts';

/** The official Python SDK pays for the tools and uses them all; the TypeScript one is in mcp.test.ts. */

const root = resolve(import.meta.dirname, '../..');
const LAUNCHER = join(root, 'src/bin/farthing.js');
const SCRIPT = join(import.meta.dirname, 'python/paid_tools.py');
const { python, absent } = pythonWith('eth_account', 'mcp.client.streamable_http');

t.setTimeout(300_000);

for (const kind of ['http', 'stdio'] as const)
  t.test(`over ${kind}`, { skip: onlyDeep || absent }, async (t) => {
    const folder = t.testdir({});
    const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
    const agent = new Agent(folder, server.url);
    await agent.run(['wallet', 'new']);
    const target = kind === 'http' ? [`${server.url}/mcp`] : [process.execPath, LAUNCHER];
    const child = spawn(python, [SCRIPT, kind, ...target], {
      env: { ...agent.environment, FILE: join(root, 'samples/lighthouses.md') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const said = out.startsWith('{') ? (JSON.parse(out) as Record<string, unknown>) : undefined;
    t.match(
      said,
      {
        charged: [true, true],
        found: /^1\. lighthouses\.md.*confidence/m,
        wrong: /There is no argument "minutes"\. Did you mean ttl_minutes\?/,
        read: /lighthouse/,
        extended: '0.0025',
        deleted: 'deleted',
        disposed: true,
      },
      err,
    );
    t.same(said?.tools, TOOL_NAMES);
  });
