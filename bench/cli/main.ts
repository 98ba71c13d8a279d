/**
 * A person's day with the commands, as text: every task of tasks.ts in a terminal of 60 and of 120 columns, one file each in OUT
 * (a folder of the system's temporary one). Then how long the built command takes for `--help` and for a search. `make bench NAME=cli`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startServer } from '../rig/agent.ts';
import { tasksFor } from './tasks.ts';
import { runAt, screenOf } from './terminal.ts';
import { timesOf } from './times.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../src/bin/farthing.js');
const SAMPLES = resolve(import.meta.dirname, '../../samples');
const out = process.env.OUT || join(tmpdir(), 'farthing-cli');
const work = mkdtempSync(join(tmpdir(), 'farthing-cli-'));
const server = process.env.SERVER ? undefined : await startServer();
const url = server?.url ?? process.env.SERVER!;

/** Notes, copies of one, and what no server takes. */
function writeFiles(folder: string): void {
  mkdirSync(join(folder, 'deep'), { recursive: true });
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  for (let note = 1; note <= 24; note++)
    write(
      note % 2 ? `note-${note}.txt` : `deep/note-${note}.txt`,
      `Note ${note}: the lamp was trimmed at dawn.\n`,
    );
  write(
    'bread.md',
    '# Bread\n\nSourdough rises because wild yeasts turn sugar into gas, and bacteria make it sour.\n',
  );
  write(
    'lighthouses.md',
    '# Lighthouses\n\nEach lighthouse has a rhythm of its own, so that no two are mistaken.\n',
  );
  for (const name of ['firmware.bin', 'deep/core.bin', 'deep/module.bin'])
    write(name, `\u007fELF\u0002\u0001\u0001${name}`.padEnd(300, '\0'));
  write('empty.txt', '');
}

try {
  mkdirSync(out, { recursive: true });
  const files = join(work, 'files');
  writeFiles(files);
  for (const columns of [60, 120]) {
    const home = join(work, `home-${columns}`);
    for (const [index, task] of tasksFor(files, SAMPLES).entries()) {
      const environment = { PATH: process.env.PATH!, HOME: home, FARTHING_URL: task.server ?? url };
      const sent = await runAt(columns, [process.execPath, LAUNCHER], task, environment);
      const name = `${String(index + 1).padStart(2, '0')}-${task.name.replace(/\W+/g, '-')}-${columns}.txt`;
      writeFileSync(join(out, name), `$ farthing ${task.words.join(' ')}\n${screenOf(sent)}`);
      console.log(name);
    }
  }
  console.log(timesOf(url, join(work, 'home-times')));
} finally {
  await server?.stop();
  rmSync(work, { recursive: true, force: true });
}
