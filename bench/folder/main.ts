/**
 * What `farthing ingest -r FOLDER` costs beside the bare uploads, and what an interruption and a kill cost:
 * `make bench NAME=folder FILES=500`. Both send the same mixed files, four at a time, into workspaces of one server.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { BenchWorkspace, inParallel, startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';
import { writeMixedFiles } from './mixed-files.ts';

/** As many as the command sends at once. */
const AT_ONCE = 4;
const MINUTES = 120;
const LAUNCHER = resolve(import.meta.dirname, '../../src/bin/farthing.js');
const files = Number(process.env.FILES || 500);
const home = mkdtempSync(join(tmpdir(), 'farthing-folder-'));
const folder = join(home, 'files');
await writeMixedFiles(folder, files);
const server = await startServer();

interface Ended {
  readonly seconds: number;
  readonly code: number | null;
  readonly told: number;
  readonly summary: Readonly<Record<string, number>> | undefined;
}

try {
  const of = machine();
  console.log(
    `${files} mixed files, ${AT_ONCE} at a time; ${of.processor}, ${of.cores} cores, load ${of.load_before[0]}`,
  );
  // The first files of a server find its readers cold.
  await bare('warm-up', AT_ONCE * 2);
  const first = await bare('bare');
  const through = await inWorkspace((run) => run(undefined));
  const second = await bare('bare, again');
  const plain = (first + second) / 2;
  console.log(`bare uploads        ${first.toFixed(1)} s and ${second.toFixed(1)} s`);
  console.log(`farthing ingest     ${through[0]!.seconds.toFixed(1)} s: ${describe(through[0]!)}`);
  console.log(
    `overhead            ${(100 * (through[0]!.seconds / plain - 1)).toFixed(1)} % (aim: at most 10 %)`,
  );
  const stopped = await inWorkspace(async (run) => [
    ...(await run({ after: Math.floor(files / 3), signal: 'SIGINT' })),
    ...(await run({ after: Math.floor(files / 3), signal: 'SIGKILL' })),
    ...(await run(undefined)),
  ]);
  const total = stopped.reduce((sum, { seconds }) => sum + seconds, 0);
  for (const [index, ended] of stopped.entries())
    console.log(`run ${index + 1} of 3          ${ended.seconds.toFixed(1)} s: ${describe(ended)}`);
  const seconds = { bare: [first, second], command: through[0]!.seconds, interrupted: total };
  writeRecord('folder', { files, seconds }, of);
  console.log(
    `interrupted, killed ${total.toFixed(1)} s in all, ${(100 * (total / plain - 1)).toFixed(1)} % over bare`,
  );
} finally {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}

/** Seconds that the uploads alone take, until all files are searchable. */
async function bare(title: string, count = files): Promise<number> {
  const workspace = await BenchWorkspace.rent(server.url, MINUTES);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.\w+$/.test(name))
    .toSorted()
    .slice(0, count);
  const started = performance.now();
  await inParallel(title, names, AT_ONCE, async (name) => {
    await workspace.ingest(name.split('/').at(-1)!, new Uint8Array(readFileSync(join(folder, name))));
  });
  return (performance.now() - started) / 1000;
}

type Stop = { readonly after: number; readonly signal: NodeJS.Signals };

/** Runs of the command into a workspace of their own, with a memory of their own. */
async function inWorkspace(
  work: (run: (stop: Stop | undefined) => Promise<Ended[]>) => Promise<Ended[]>,
): Promise<Ended[]> {
  const own = mkdtempSync(join(home, 'home-'));
  const environment = { PATH: process.env.PATH, HOME: own, FARTHING_URL: server.url };
  for (const words of [
    ['wallet', 'new'],
    ['workspace', 'create', '--yes', '--minutes', String(MINUTES)],
  ])
    await command(environment, [...words, '--json'], undefined);
  return work(async (stop) => [await command(environment, ['ingest', '-r', folder, '--json'], stop)]);
}

function command(env: NodeJS.ProcessEnv, words: readonly string[], stop: Stop | undefined): Promise<Ended> {
  const started = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let told = 0;
  let summary: Record<string, number> | undefined;
  createInterface(child.stdout).on('line', (line) => {
    const answer = JSON.parse(line) as { file?: string; summary?: Record<string, number> };
    if (answer.file !== undefined) told += 1;
    summary = answer.summary ?? summary;
    if (stop && told === stop.after) child.kill(stop.signal);
  });
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) =>
      done({ seconds: (performance.now() - started) / 1000, code, told, summary }),
    );
  });
}

function describe({ code, told, summary }: Ended): string {
  const counts = summary
    ? Object.entries(summary)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')
    : 'stopped';
  return `exit ${code ?? 'by signal'}, ${told} files, ${counts}`;
}
