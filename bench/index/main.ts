import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ENGINES } from './engines.ts';
import { writeVectors } from './vectors.ts';

/**
 * The index beside other engines, in one run, on the same vectors: sentences of the set by the installed text model, and perturbed copies
 * of them where there are not enough. One process each; k 30, one client.
 */
const { ROWS = '', QUERIES, GRAPH_ROWS_MAX, SENTENCES, ENGINES: ONLY = '', CACHE_DIR } = process.env;
const CACHE = resolve(CACHE_DIR || join(tmpdir(), 'farthing-bench-index'));
const MEASURE = join(import.meta.dirname, 'measure.ts');
const run = promisify(execFile);
const engines: object[] = [];
for (const rows of ROWS.split(',').map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  try {
    const files = await writeVectors(folder, CACHE, rows, {
      queriesMax: Number(QUERIES),
      sentencesMax: Number(SENTENCES),
    });
    console.log(`${rows} rows of 384 dimensions: ${files.real} sentences, the others perturbed copies`);
    for (const [name, { graph }] of Object.entries(ENGINES)) {
      if (ONLY !== '' && !ONLY.split(',').includes(name)) continue;
      // A larger graph takes more than minutes to build.
      if (graph && rows > Number(GRAPH_ROWS_MAX)) continue;
      engines.push(await measured(name, files));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
export const facts = { engines };

async function measured(name: string, files: object): Promise<object> {
  const words = ['--expose-gc', '--no-warnings', MEASURE, name, JSON.stringify(files)];
  try {
    const { stdout } = await run(process.execPath, words);
    const figures = JSON.parse(stdout) as Record<string, number>;
    console.log(
      `  ${name.padEnd(15)} p50 ${figures.p50_ms!.toFixed(3)} ms   recall@30 ${figures.recall_at_30!.toFixed(4)}`,
    );
    return figures;
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? error);
    console.log(`  ${name.padEnd(15)} not measured: ${/^.*Error.*$/m.exec(said)?.[0] ?? 'it ended'}`);
    return { engine: name };
  }
}
