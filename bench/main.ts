import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import benches from './benches.json' with { type: 'json' };
import { type Facts, figuresOf, shownFigure } from './rig/figures.ts';
import { machineHere, record } from './rig/record.ts';

/**
 * `make bench NAME=…` runs one bench of benches.json with the settings that stand there unless the environment has others, prints its
 * figures, and appends them to the day's record. A bench is a module whose `facts` are what it found.
 */
interface Bench {
  readonly program: string;
  /** Folders in which other people's servers and engines are installed at the first use. */
  readonly peers?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  /** With these it runs, in seconds; its figures mean nothing. Absent: only at length. */
  readonly trial?: Readonly<Record<string, string>>;
  /** Writes no record. */
  readonly tool?: boolean;
}

const [name = 'whole'] = process.argv.slice(2);
if (['list', '--help', '-h'].includes(name)) {
  execFileSync(process.execPath, [join(import.meta.dirname, 'check.js'), name], { stdio: 'inherit' });
  process.exit(0);
}
const bench = (benches as Readonly<Record<string, Bench>>)[name];
if (!bench) {
  console.error(`There is no bench "${name}": make bench NAME=list lists them.`);
  process.exit(2);
}
const { program, peers = [], settings = {}, tool = false } = bench;
for (const folder of peers) install(join(import.meta.dirname, folder));
/** Changes no figure: what was computed before is kept there. */
const CACHE = 'CACHE_DIR';
const chosen = Object.keys(settings).filter(
  (key) => key !== CACHE && process.env[key] && process.env[key] !== settings[key],
);
const passed = Object.keys(process.env).filter((key) => key.startsWith('FARTHING_') && !chosen.includes(key));
const command = [...passed, ...chosen].reduce(
  (line, key) => `${line} ${key}=${placeless(process.env[key]!)}`,
  `make bench NAME=${name}`,
);
for (const [key, value] of Object.entries(settings)) process.env[key] ||= value;
const machine = machineHere();
if (!tool)
  console.log(
    `${machine.machine}, ${machine.simd}, ${machine.cores} cores, Node ${process.version}, load ${machine.load}`,
  );
const { facts } = (await import(`./${program}`)) as { facts?: Facts };
if (facts && !tool) {
  console.log(figuresOf(facts).map(shownFigure).join('\n'));
  console.log(`record: ${record(name, command, facts, machine)}`);
}

function install(folder: string): void {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return;
  console.log(`── installing what is compared with, in ${folder} (once)`);
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
  } catch {
    console.error('It could not be installed: npm says why above. What needs it is not measured.');
  }
}

/** A record is read elsewhere: of a folder it has the name alone. */
function placeless(value: string): string {
  return isAbsolute(value) ? basename(value) : value;
}
