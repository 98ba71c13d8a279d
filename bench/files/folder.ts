/**
 * What `farthing ingest -r FOLDER` costs beside the bare uploads, and what an interruption and a kill cost. Both send the same mixed files, four at a time, into workspaces of one server.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { BenchWorkspace, inParallel, startServer } from '../rig/agent.ts';
import { writeMixedFiles } from './mixed-files.ts';

/** As many as the command sends at once. */
const AT_ONCE = 4;
const MINUTES = 120;
const LAUNCHER = resolve(import.meta.dirname, '../../src/bin/farthing.js');
const files = Number(process.env.FILES);
const home = mkdtempSync(join(tmpdir(), 'farthing-folder-'));
const folder = join(home, 'files');
await writeMixedFiles(folder, files);
const server = await startServer();

export let facts = {};

try {
  // The first files of a server find its readers cold.
  await bare('warm-up', AT_ONCE * 2);
  const first = await bare('bare');
  const through = await inWorkspace((run) => run(undefined));
  const second = await bare('bare, again');
  const plain = (first + second) / 2;
  const stopped = await inWorkspace(async (run) => [
    ...(await run({ after: Math.floor(files / 3), signal: 'SIGINT' })),
    ...(await run({ after: Math.floor(files / 3), signal: 'SIGKILL' })),
    ...(await run(undefined)),
  ]);
  const total = stopped.reduce((sum, seconds) => sum + seconds, 0);
  const beside = (value: number) => ({ value, unit: 's', peer: 'bare uploads', peer_value: plain });
  facts = { command: beside(through[0]!), interrupted_and_killed: beside(total) };
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
  work: (run: (stop: Stop | undefined) => Promise<number[]>) => Promise<number[]>,
): Promise<number[]> {
  const own = mkdtempSync(join(home, 'home-'));
  const environment = { PATH: process.env.PATH, HOME: own, FARTHING_URL: server.url };
  for (const words of [
    ['wallet', 'new'],
    ['workspace', 'create', '--yes', '--minutes', String(MINUTES)],
  ])
    await command(environment, [...words, '--json'], undefined);
  return work(async (stop) => [await command(environment, ['ingest', '-r', folder, '--json'], stop)]);
}

/** @returns seconds. @throws when a command that nothing stops fails */
function command(env: NodeJS.ProcessEnv, words: readonly string[], stop: Stop | undefined): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let told = 0;
  createInterface(child.stdout).on('line', (line) => {
    if ((JSON.parse(line) as { file?: string }).file !== undefined) told += 1;
    if (stop && told === stop.after) child.kill(stop.signal);
  });
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      if (code === 0 || stop) done((performance.now() - started) / 1000);
      else failed(new Error(`farthing ${words[0]} ended with ${code}`));
    });
  });
}
