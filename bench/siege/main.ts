import { join } from 'node:path';
import { startServer } from '../rig/agent.ts';
import { ATTACKS, BESIEGED } from './attacks.ts';
import { longestTurns, type Turn } from './routes.ts';
import { besiege } from './siege.ts';
import { openStage, rent } from './stage.ts';

/**
 * A paying client searches at a steady pace while strangers without money, and one cheap workspace, attack; or some attacks
 * by words of their names, without the turns of single requests (`ATTACK=pipelined SECONDS=20`). Each has a new server, and bounds on its
 * connections and bytes.
 */
const SECONDS = Number(process.env.SECONDS);
const SEARCHES_PER_SECOND = Number(process.env.SEARCHES);
const asked = process.env.ATTACK ?? '';

const seen: Record<string, object> = {};
for (const name of Object.keys(ATTACKS).filter((one) => one.includes(asked))) {
  const stage = await openStage(name);
  try {
    const {
      before: calm,
      during,
      ...rest
    } = await besiege({
      ...stage,
      attacks: [name],
      secondsBefore: SECONDS,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    const beside = (of: 'p50' | 'p99') => ({
      value: during[of],
      unit: 'ms',
      peer: 'before the attack',
      peer_value: calm[of],
    });
    seen[name] = {
      p50: beside('p50'),
      p99: beside('p99'),
      refused: Object.values(during.refused).reduce((sum, count) => sum + count, 0),
      memory_mib: rest.memoryMib,
      incoming_mib: rest.incomingMib,
      gone_after_s: rest.goneAfterSeconds,
      longest_turn_ms: rest.longestTurn,
    };
    console.log(
      `${name}: p99 ${calm.p99.toFixed(1)} → ${during.p99.toFixed(1)} ms, refused ${JSON.stringify(during.refused)}`,
    );
  } finally {
    await stage.stop();
  }
}
export const facts = { attacks: seen, ...(asked === '' && { longest_turn_ms: await turnsOfRoutes() }) };

/** What one request costs the event loop at its largest, with nothing beside it. */
async function turnsOfRoutes(): Promise<Record<string, Turn>> {
  const server = await startServer(BESIEGED, { preload: join(import.meta.dirname, 'probe.ts') });
  try {
    return await longestTurns(server, await rent(server.url));
  } finally {
    await server.stop();
  }
}
