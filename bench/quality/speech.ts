/**
 * Word error of transcripts over HTTP: the recordings of each folder of SET, whose `transcripts.json` has the words of each by its file's
 * name. MODELS_DIR is a folder of other models than the tree's.
 */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BenchWorkspace, startServer } from '../rig/agent.ts';
import { untilIdle, usageOf } from '../rig/process-tree.ts';
import { setFolder } from '../sets/beir.ts';

const rounded = (value: number) => Number(value.toFixed(4));

export let facts = {};
const server = await startServer(
  process.env.MODELS_DIR ? { MODELS_DIR: resolve(process.env.MODELS_DIR) } : {},
);
try {
  await untilIdle(server.pid);
  const atStart = Math.round(usageOf(server.pid).anonymousMib);
  for (const set of process.env.SET!.split(',').map(setFolder))
    facts = { ...facts, [basename(set)]: await judged(set) };
  const anonymous_mib = { at_start: atStart, at_end: Math.round(usageOf(server.pid).anonymousMib) };
  facts = { ...facts, anonymous_mib };
} finally {
  await server.stop();
}

async function judged(folder: string) {
  const transcripts = JSON.parse(readFileSync(join(folder, 'transcripts.json'), 'utf8')) as Record<
    string,
    string
  >;
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const read = async (path: string) =>
    (await fetch(`${workspace.url}${path}`, { headers: workspace.headers })).text();
  const before = usageOf(server.pid).cpuSeconds;
  for (const name of Object.keys(transcripts))
    await workspace.ingest(name, new Uint8Array(readFileSync(join(folder, name))));
  const cpu = usageOf(server.pid).cpuSeconds - before;
  const { items } = JSON.parse(await read('/items')) as { items: { id: string; name: string }[] };
  let [words, errors, seconds] = [0, 0, 0];
  for (const { id, name } of items) {
    const captions = await read(`/items/${id}/captions`);
    const said = wordsOf(captions.split('\n').filter(isSpoken).join(' '));
    const meant = wordsOf(transcripts[name]!);
    const wrong = distance(meant, said);
    console.log(`${name}  ${wrong} of ${meant.length} words: ${said.join(' ').slice(0, 200)}`);
    words += meant.length;
    errors += wrong;
    seconds += secondsOf(readFileSync(join(folder, name)));
  }
  return {
    recordings: items.length,
    seconds: rounded(seconds),
    words,
    word_error: rounded(errors / words),
    cpu_seconds_a_minute: rounded((cpu / seconds) * 60),
  };
}

/** A line of WebVTT that is no heading, time or number. */
function isSpoken(line: string): boolean {
  return line !== '' && !/^WEBVTT|-->|^NOTE|^\d+$/.test(line);
}

function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replace(/<[^>]*>|[’']/g, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** Words to add, leave out or change. */
function distance(meant: readonly string[], said: readonly string[]): number {
  let row = Array.from({ length: said.length + 1 }, (_, at) => at);
  for (const [at, word] of meant.entries()) {
    const next = [at + 1];
    for (const [other, heard] of said.entries())
      next.push(Math.min(row[other]! + Number(word !== heard), row[other + 1]! + 1, next[other]! + 1));
    row = next;
  }
  return row.at(-1)!;
}

/** A WAV file with 16 bits. */
function secondsOf(wav: Buffer): number {
  return (wav.length - 44) / wav.readUInt32LE(28);
}
