import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile, type StartedServer } from '../rig/agent.ts';
import { runLoop } from '../rig/loops.ts';
import { socketsOf, untilIdle, usageOf } from '../rig/process-tree.ts';
import type { AttackOrder } from './attacker.ts';
import { longestTurn, type Turn } from './longest-turn.ts';
import type { Client, Stage } from './stage.ts';

/** The client's requests of one kind: milliseconds from the moment each was meant to be sent. */
export interface Served {
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  /** By status and detail, or fault: those that got no answer to their question. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Besieged {
  /** Searches. */
  readonly before: Served;
  readonly during: Served;
  /** Uploads of ten words each, until they are searchable. */
  readonly uploadsBefore: Served;
  readonly uploadsDuring: Served;
  /** Most memory of all processes above that before the attack. */
  readonly memoryMib: number;
  /** Most bytes of uploads that were being received. */
  readonly incomingMib: number;
  /** From the end of the attack until nothing of it was left: uploads, connections. */
  readonly goneAfterSeconds: number;
  /** False: something was left when the wait for it ended. */
  readonly isGone: boolean;
  readonly longestTurn: Turn;
  readonly attackerCpuSeconds: number;
}

export interface SiegeOptions extends Pick<Stage, 'server' | 'client' | 'target'> {
  /** Attacks that run side by side, each in a process of its own. */
  readonly attacks: readonly string[];
  /** Before the attacks, and after a warm-up; 0: neither. */
  readonly secondsBefore: number;
  /** Beside them. */
  readonly seconds: number;
  readonly searchesPerSecond: number;
  /** The server has work of its own: it is not waited for until it is idle, and neither are the traces. */
  readonly isBusy?: boolean;
}

const MEBIBYTE = 2 ** 20;
const WARM_UP_SECONDS = 5;
const UPLOADS_PER_SECOND = 1;
const SAMPLE_MS = 200;
const GONE_SECONDS_MAX = 60;
/** To the facilitator, and between the server's own processes. */
const SOCKETS_MORE_MAX = 8;
const never = new AbortController().signal;

/** A client searches and uploads at a steady pace, before an attack and beside it. */
export async function besiege({
  server,
  client,
  target,
  attacks,
  secondsBefore,
  seconds,
  searchesPerSecond,
  isBusy = false,
}: SiegeOptions): Promise<Besieged> {
  if (!isBusy) await untilIdle(server.pid);
  // A server that has just started compiles while it answers.
  if (secondsBefore > 0) await requests(client, WARM_UP_SECONDS, searchesPerSecond);
  const before = await requests(client, secondsBefore, searchesPerSecond);
  const quiet = usageOf(server.pid);
  const sockets = socketsOf(server.pid);
  await longestTurn(server);
  const attackers = await Promise.all(attacks.map((name) => launch({ name, target })));
  let over = false;
  const most = { memory: 0, incoming: 0 };
  const watched = (async () => {
    while (!over) {
      most.memory = Math.max(most.memory, usageOf(server.pid).anonymousMib - quiet.anonymousMib);
      most.incoming = Math.max(most.incoming, incomingMib(server));
      await pause(SAMPLE_MS);
    }
  })();
  const during = await requests(client, seconds, searchesPerSecond);
  over = true;
  await watched;
  const turn = await longestTurn(server);
  const attackerCpuSeconds = (await Promise.all(attackers.map((end) => end()))).reduce(
    (sum, own) => sum + own,
  );
  const ended = performance.now();
  // Workspaces that the attack paid for live on, with their files.
  const isGone = () => incomingMib(server) === 0 && socketsOf(server.pid) <= sockets + SOCKETS_MORE_MAX;
  while (!isBusy && !isGone() && performance.now() - ended < 1000 * GONE_SECONDS_MAX) await pause(SAMPLE_MS);
  return {
    before: before.searches,
    during: during.searches,
    uploadsBefore: before.uploads,
    uploadsDuring: during.uploads,
    memoryMib: most.memory,
    incomingMib: most.incoming,
    goneAfterSeconds: (performance.now() - ended) / 1000,
    isGone: isGone(),
    longestTurn: turn,
    attackerCpuSeconds,
  };
}

/** Starts an attack, and waits until it has all its connections. @returns to end it, which resolves with the processor seconds that it took of its own */
async function launch(order: AttackOrder): Promise<() => Promise<number>> {
  const attacker = fork(join(import.meta.dirname, 'attacker.ts'));
  const ended = once(attacker, 'exit').then(() => [0]);
  const next = () => Promise.race([once(attacker, 'message'), ended]);
  await next();
  attacker.send(order);
  await next();
  const told = next();
  return async () => {
    if (attacker.connected) attacker.send('over');
    return ((await told) as [number])[0];
  };
}

async function requests(client: Client, seconds: number, searchesPerSecond: number) {
  const [searches, uploads] = await Promise.all([
    paced(searchesPerSecond, seconds, (number) => client.search(`who counts gulls at dawn, ${number}?`)),
    paced(UPLOADS_PER_SECOND, seconds, () =>
      client.upload(`Ten words of a log that nobody has written: ${randomUUID()}`),
    ),
  ]);
  return { searches, uploads };
}

async function paced(
  perSecond: number,
  seconds: number,
  request: (number: number) => Promise<string>,
): Promise<Served> {
  const times: number[] = [];
  const refused: Record<string, number> = {};
  let sent = 0;
  const send = async (due: number) => {
    sent += 1;
    const outcome = await request(sent);
    if (outcome === 'answered') times.push(performance.now() - due);
    else refused[outcome] = (refused[outcome] ?? 0) + 1;
  };
  await runLoop({ perSecond }, seconds, send, never);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), answered: times.length, refused };
}

function incomingMib({ folder }: StartedServer): number {
  const incoming = join(folder, 'incoming');
  const bytes = readdirSync(incoming).map(
    (name) => statSync(join(incoming, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  // An empty file is a trace, too.
  return bytes.reduce((total, size) => total + Math.max(1, size), 0) / MEBIBYTE;
}
