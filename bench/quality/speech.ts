/**
 * Word error of transcripts over HTTP: the recordings of the folder SET, whose `transcripts.json` has the words of each by its file's
 * name. The server's models are those of MODELS_DIR, where one of speech is in use.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BenchWorkspace, startServer } from '../rig/agent.ts';
import { untilIdle, usageOf } from '../rig/process-tree.ts';

const folder = resolve(process.env.SET!);
const transcripts = JSON.parse(readFileSync(join(folder, 'transcripts.json'), 'utf8')) as Record<
  string,
  string
>;

export let facts = {};
const server = await startServer(
  process.env.MODELS_DIR ? { MODELS_DIR: resolve(process.env.MODELS_DIR) } : {},
);
try {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const read = async (path: string) =>
    (await fetch(`${workspace.url}${path}`, { headers: workspace.headers })).text();
  await untilIdle(server.pid);
  const before = usageOf(server.pid).cpuSeconds;
  for (const name of Object.keys(transcripts))
    await workspace.ingest(name, new Uint8Array(readFileSync(join(folder, name))));
  const cpu = usageOf(server.pid).cpuSeconds - before;
  const { items } = JSON.parse(await read('/items')) as {
    items: { id: string; name: string; media?: { duration_s?: number } }[];
  };
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
  const rounded = (value: number) => Number(value.toFixed(4));
  facts = {
    recordings: items.length,
    seconds: rounded(seconds),
    words,
    word_error: rounded(errors / words),
    cpu_seconds_a_minute: rounded((cpu / seconds) * 60),
    anonymous_mib: Math.round(usageOf(server.pid).anonymousMib),
  };
} finally {
  await server.stop();
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

/** Of a WAV file with 16 bits. */
function secondsOf(wav: Buffer): number {
  return (wav.length - 44) / wav.readUInt32LE(28);
}
