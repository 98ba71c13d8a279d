import { readFileSync } from 'node:fs';
import { compareRecords } from './rig/compare-records.ts';
import { rowsIn } from './rig/csv.ts';
import type { Row } from './rig/record.ts';

/** `make bench NAME=compare A=before.csv B=after.csv`: ends with 1 when a figure of B is worse than A's by more than both runs' own noise. */
const { A: before, B: after } = process.env;
if (!before || !after) {
  console.error('Give two records: make bench NAME=compare A=before.csv B=after.csv');
  process.exit(2);
}
const read = (path: string) => rowsIn<Row>(readFileSync(path, 'utf8'));
const { machinesDiffer, changes } = compareRecords(read(before), read(after));
if (machinesDiffer)
  console.error('These are of different machines: a difference says nothing about the code.');
for (const { name, from, to, noise, verdict } of changes) {
  const share = (100 * (to - from)) / from;
  console.log(
    `${verdict.padEnd(7)} ${name.padEnd(60)} ${from} → ${to}   ${share.toFixed(1)} %   noise ±${(100 * noise).toFixed(1)} %`,
  );
}
const worse = changes.filter(({ verdict }) => verdict === 'worse').length;
console.log(`${changes.length} figures, ${worse} worse beyond the noise`);
process.exitCode = changes.length === 0 || machinesDiffer ? 2 : worse > 0 ? 1 : 0;
