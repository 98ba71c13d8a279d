import { hasSciFact } from '../index/sentences.ts';
import { wordFigures } from '../index/words.ts';
import { machine, writeRecord } from '../rig/record.ts';

/** Search by words alone: `make bench NAME=words ROWS=100000,1000000`. A million passages take some minutes to fill. */
const ROWS = (process.env.ROWS || '100000,1000000').split(',').map(Number);

if (!hasSciFact()) {
  console.error('SciFact is not there (../shared/data/text/scifact): nothing to measure.');
  process.exit(3);
}
const of = machine();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before[0]}`);
const words: object[] = [];
for (const rows of ROWS) {
  const figures = await wordFigures(rows);
  console.log(JSON.stringify(figures, null, 1));
  words.push(figures);
}
console.log(`record: ${writeRecord('words', { words }, of)}`);
