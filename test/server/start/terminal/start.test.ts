import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { lacksProgram } from '../../../rig/run-program.ts';
import { spawnBuilt } from '../built-process.ts';

/** `script` gives the server a terminal. */
const withoutTerminal = lacksProgram('script');

t.test(
  'on a terminal a start shows its steps, its addresses and whose money it is',
  { skip: withoutTerminal },
  async (t) => {
    const { child, ended } = spawnBuilt(t, { DEMO: '0' }, { terminal: true });
    const said: string[] = [];
    for await (const line of createInterface(child.stdout!)) {
      said.push(line);
      if (/in a browser/.test(line)) break;
    }
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
