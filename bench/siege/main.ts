import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';
import { ATTACKS, BESIEGED } from './attacks.ts';
import { longestTurns, type Turn } from './routes.ts';
import { type Besieged, besiege } from './siege.ts';
import { openStage, rent } from './stage.ts';

/**
 * A paying client searches at a steady pace while strangers without money, and one cheap workspace, attack: `make siege`, or some attacks
 * by words of their names, without the turns of single requests (`ATTACK=pipelined SECONDS=20`). Each has a new server, and bounds on its
 * connections and bytes.
 */
const SECONDS = Number(process.env.SECONDS || 10);
const SEARCHES_PER_SECOND = Number(process.env.SEARCHES || 20);
const asked = process.env.ATTACK ?? '';

const of = machine();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before.join(' ')}`);
console.log(
  `${SEARCHES_PER_SECOND} searches a second for ${SECONDS} s before, and as long beside each attack`,
);
const seen: Record<string, Besieged> = {};
for (const name of Object.keys(ATTACKS).filter((one) => one.includes(asked))) {
  const { connections, mebibytes } = ATTACKS[name]!;
  console.log(`\n${name} (${connections} connections, at most ${mebibytes} MiB)`);
  const stage = await openStage(name);
  try {
    seen[name] = await besiege({
      ...stage,
      attacks: [name],
      secondsBefore: SECONDS,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    show(seen[name]);
  } finally {
    await stage.stop();
  }
}
const turns = asked === '' ? await turnsOfRoutes() : undefined;
mkdirSync('bench/record', { recursive: true });
console.log(
  `\nrecord: ${writeRecord('siege', { seconds: SECONDS, searches: SEARCHES_PER_SECOND, seen, turns }, of)}`,
);

/** What one request costs the event loop at its largest, with nothing beside it. */
async function turnsOfRoutes(): Promise<Record<string, Turn>> {
  const server = await startServer(BESIEGED, { preload: join(import.meta.dirname, 'probe.ts') });
  try {
    const turns = await longestTurns(server, await rent(server.url));
    console.log('\nlongest turn of the event loop that one request takes (median of 20)');
    for (const [what, turn] of Object.entries(turns)) console.log(`  ${shown(turn)}  ${what}`);
    return turns;
  } finally {
    await server.stop();
  }
}

function shown({ clock, processor }: Turn): string {
  return `${clock.toFixed(1).padStart(6)} ms (processor ${processor.toFixed(1)} ms)`;
}

function show({ before, during, ...rest }: Besieged): void {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(`  p50 ${ms(before.p50)} → ${ms(during.p50)}   p99 ${ms(before.p99)} → ${ms(during.p99)}`);
  console.log(
    `  refused ${JSON.stringify(during.refused)} of ${during.answered + sum(during.refused)} (before: ${JSON.stringify(before.refused)})`,
  );
  console.log(
    `  memory +${rest.memoryMib.toFixed(0)} MiB   uploads on the disk ${rest.incomingMib.toFixed(1)} MiB   gone after ${rest.goneAfterSeconds.toFixed(1)} s   longest turn ${shown(rest.longestTurn)}   attacker ${rest.attackerCpuSeconds.toFixed(1)} s of processor time`,
  );
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
