import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../rig/agent.ts';
import { usageOf } from '../rig/process-tree.ts';

/**
 * What it costs that a request comes to another server than its slot's. A search of 30 kB and an
 * upload of 10 MB, at the owner and through another server in turns; how long the events of a stream (EVENTS=300) are on their way at both; the other server's memory while SLOW clients upload slowly, and
 * while as many as a tenth read 100 MiB each as slowly.
 */

const [SEARCHES, UPLOADS, SLOW] = [process.env.SEARCHES, process.env.UPLOADS, process.env.SLOW].map(
  Number,
) as [number, number, number];
const UPLOAD_BYTES = 10_000_000;
const SLOW_SECONDS = 15;
const SLOW_PIECE = Buffer.alloc(64 * 1024);
const SLOW_PIECES_PER_SECOND = 4;
const LOOK_MS = 250;

const PATH = `/agent/v1/workspaces/ws_${'a'.repeat(32)}`;
const HEADERS = { authorization: 'Bearer good' };
const agent = new Agent({ keepAlive: true });

interface Node {
  readonly child: ChildProcess;
  readonly port: number;
}

async function startNode(...args: string[]): Promise<Node> {
  const child = fork(join(import.meta.dirname, 'node.ts'), args);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, port };
}

/** @returns milliseconds until the whole answer is there */
async function timed(port: number, path: string, body: Buffer): Promise<number> {
  const began = performance.now();
  const headers = { ...HEADERS, 'content-length': body.length };
  const sent = request({ port, host: '127.0.0.1', path: PATH + path, method: 'POST', headers, agent });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  for await (const _ of answer);
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  return performance.now() - began;
}

/** Milliseconds at the owner and through the other server, in turns. */
async function inTurns(count: number, path: string, body: Buffer) {
  const times = { owner: [] as number[], passed_on: [] as number[] };
  for (let turn = 0; turn < count + 20; turn++)
    for (const [name, { port }] of [['owner', owner] as const, ['passed_on', other] as const]) {
      const ms = await timed(port, path, body);
      if (turn >= 20) times[name].push(ms);
    }
  return besideOwner(times.passed_on, times.owner);
}

/** Memory of the other server in MiB: before, and its most while `work` runs. */
async function memoryWhile(work: () => Promise<void>) {
  const pid = other.child.pid!;
  const before = usageOf(pid).anonymousMib;
  let most = before;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, usageOf(pid).anonymousMib);
      await pause(LOOK_MS);
    }
  })();
  await work();
  isOver = true;
  await watching;
  return { before_mib: Math.round(before), most_mib: Math.round(most) };
}

async function uploadSlowly(): Promise<void> {
  const pieces = SLOW_SECONDS * SLOW_PIECES_PER_SECOND;
  const socket = connect(other.port, '127.0.0.1');
  const head = `POST ${PATH}/ingest HTTP/1.1\r\nHost: a\r\nAuthorization: ${HEADERS.authorization}\r\n`;
  socket.write(`${head}Content-Length: ${pieces * SLOW_PIECE.length}\r\n\r\n`);
  for (let piece = 0; piece < pieces; piece++) {
    socket.write(SLOW_PIECE);
    await pause(1000 / SLOW_PIECES_PER_SECOND);
  }
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!String(answer).includes(`"bytes":${pieces * SLOW_PIECE.length}`)) throw new Error(String(answer));
  socket.destroy();
}

async function downloadSlowly(): Promise<void> {
  const asked = request({ port: other.port, host: '127.0.0.1', path: `${PATH}/file`, headers: HEADERS });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  for (let second = 0; second < SLOW_SECONDS; second++) {
    for (let read = 0; read < SLOW_PIECES_PER_SECOND * SLOW_PIECE.length; ) {
      const piece = answer.read() as Buffer | null;
      if (piece) read += piece.length;
      else await once(answer, 'readable');
    }
    await pause(1000);
  }
  answer.destroy();
}

/** Milliseconds from when an event is told until it is here. The clock is the machine's, the same for all processes. */
async function eventsOf({ port }: Node): Promise<number[]> {
  const asked = request({ port, host: '127.0.0.1', path: `${PATH}/events`, headers: HEADERS });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const late: number[] = [];
  for await (const piece of answer.setEncoding('utf8'))
    for (const [, at] of (piece as string).matchAll(/"at":"(\d+)"/g))
      late.push(Number(process.hrtime.bigint() - BigInt(at!)) / 1e6);
  return late;
}

async function eventsInTurns() {
  const late = { owner: [] as number[], passed_on: [] as number[] };
  for (let turn = 0; turn < 2; turn++) {
    late.owner.push(...(await eventsOf(owner)));
    late.passed_on.push(...(await eventsOf(other)));
  }
  return besideOwner(late.passed_on, late.owner);
}

const besideOwner = (passedOn: readonly number[], owner: readonly number[]) => {
  const at = (share: number) => ({
    value: quantile(passedOn, share),
    unit: 'ms',
    peer: 'at the owner',
    peer_value: quantile(owner, share),
  });
  return { p50: at(0.5), p99: at(0.99) };
};

export const facts: Record<string, object> = {};
const owner = await startNode('owner');
const other = await startNode('other', `http://127.0.0.1:${owner.port}`);
try {
  facts.search = await inTurns(SEARCHES, '/search', Buffer.from('{"query":"who watches birds?"}'));
  facts.upload = await inTurns(UPLOADS, '/ingest', Buffer.alloc(UPLOAD_BYTES));
  facts.events = await eventsInTurns();
  const all = (count: number, work: () => Promise<void>) => async () =>
    void (await Promise.all(Array.from({ length: count }, work)));
  facts.slow_uploads = await memoryWhile(all(SLOW, uploadSlowly));
  facts.slow_downloads = await memoryWhile(all(Math.ceil(SLOW / 10), downloadSlowly));
} finally {
  agent.destroy();
  for (const { child } of [owner, other]) child.disconnect();
}
