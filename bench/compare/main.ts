import { readFileSync } from 'node:fs';
import { type Comparable, compareRecords } from './regression.ts';

/** `make bench NAME=compare A=before.json B=after.json`: ends with 1 when a figure of B is worse than A's by more than both runs' own noise. */

const { A: before, B: after } = process.env;
if (!before || !after) {
  console.error('Give two records: make bench NAME=compare A=before.json B=after.json');
  process.exit(2);
}
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Comparable;
const { machinesDiffer, changes } = compareRecords(read(before), read(after));
if (machinesDiffer)
  console.error('These are of different machines: a difference says nothing about the code.');
const percent = (share: number) => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)} %`;
for (const { name, from, to, noise, verdict } of changes) {
  console.log(
    `${verdict.padEnd(10)} ${name.padEnd(46)} ${from.toFixed(2).padStart(9)} → ${to.toFixed(2).padStart(9)}   ` +
      `${percent((to - from) / from).padStart(9)}   noise ±${(100 * noise).toFixed(1)} %`,
  );
}
const worse = changes.filter(({ verdict }) => verdict === 'worse').length;
console.log(`${changes.length} figures, ${worse} worse beyond the noise`);
process.exitCode = changes.length === 0 || machinesDiffer ? 2 : worse > 0 ? 1 : 0;
