import { writeReport } from './report.ts';

/** Writes the report of a record anew: `make bench NAME=report RECORD=bench/record/…/bench-….json`. */
const path = process.env.RECORD;
if (!path) {
  console.error('Give a record: make bench NAME=report RECORD=bench/record/…/bench-….json');
  process.exit(2);
}
console.log(await writeReport(path));
