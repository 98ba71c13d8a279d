import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBeirSet, whereOf } from './sets/where.js';

/**
 * `node bench/check.js list` (or `--help`) lists the benches; with a name it tells what that bench lacks and where to get it. `make bench` asks it before
 * anything is installed or built, so it is plain JavaScript without packages. Ends with 2 for a wrong name, with 3 where something is missing.
 */
const root = join(new URL('.', import.meta.url).pathname, '..');
const benches = JSON.parse(readFileSync(join(root, 'bench/benches.json'), 'utf8'));
const [name = 'whole'] = process.argv.slice(2);
const end = (code, line) => {
  console.error(line);
  process.exit(code);
};

if (['list', '--help', '-h'].includes(name)) {
  console.log('make bench NAME=… runs one; variables of its settings may stand in the environment.\n');
  for (const [each, { what }] of Object.entries(benches)) console.log(`${each.padEnd(12)} ${what}`);
  process.exit(0);
}
const bench = benches[name] ?? end(2, `There is no bench "${name}": make bench NAME=list lists them.`);

const NEEDS = {
  etcd: [() => existsSync(join(root, '.build/etcd')), 'etcd is not built: make etcd (needs Go)'],
  sklearn: [() => existsSync(join(root, '.build/fits/pins')), 'scikit-learn is not installed: make fits'],
  chromium: [
    () => ['chromium', 'chromium-browser', 'google-chrome'].some((program) => existsSync(`/usr/bin/${program}`)),
    'Chromium is not installed: sudo apt-get install -y chromium',
  ],
};
for (const need of bench.needs ?? []) {
  const [isThere, how] = NEEDS[need];
  if (!isThere()) end(3, `${name} was not run. ${how}`);
}
// The speech bench has no set in the tree.
const sets = bench.settings?.SET === undefined ? '' : process.env.SET || (name === 'speech' ? bench.settings.SET : '');
for (const set of sets.split(',').filter(Boolean)) {
  const folder = whereOf(set) ?? end(3, `${name} was not run: there is no set "${set}". make bench-data lists where it may come from.`);
  if (name === 'speech') {
    if (!existsSync(join(folder, 'transcripts.json'))) end(3, `${name} was not run: ${folder} has no transcripts.json.`);
  } else if (name !== 'quality' && !isBeirSet(folder))
    end(3, `${name} was not run: ${folder} has no corpus.jsonl and queries.jsonl (BEIR's shape).`);
}
