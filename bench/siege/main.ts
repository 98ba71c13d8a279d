import { ATTACKS } from './attacks.ts';
import { besiege } from './siege.ts';
import { openStage } from './stage.ts';

/**
 * A paying client searches and uploads at a steady pace while clients without money, and cheap workspaces, attack; or some attacks
 * by words of their names (`ATTACK=pipelined SECONDS=20`). Each has a new server, and bounds on its
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
      uploadsBefore,
      uploadsDuring,
      ...rest
    } = await besiege({
      ...stage,
      attacks: [name],
      secondsBefore: SECONDS,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
    });
    const beside = (value: number, peer_value: number) => ({
      value,
      unit: 'ms',
      peer: 'before the attack',
      peer_value,
    });
    seen[name] = {
      p50: beside(during.p50, calm.p50),
      p99: beside(during.p99, calm.p99),
      upload_p99: beside(uploadsDuring.p99, uploadsBefore.p99),
      refused: countOf(during.refused),
      uploads_refused: countOf(uploadsDuring.refused),
      memory_mib: rest.memoryMib,
      incoming_mib: rest.incomingMib,
      gone_after_s: rest.goneAfterSeconds,
      longest_turn_ms: rest.longestTurn,
    };
    console.log(
      `${name}: p99 ${calm.p99.toFixed(1)} → ${during.p99.toFixed(1)} ms, of uploads ${uploadsBefore.p99.toFixed(0)} → ` +
        `${uploadsDuring.p99.toFixed(0)} ms, refused ${JSON.stringify({ ...during.refused, ...uploadsDuring.refused })}`,
    );
  } finally {
    await stage.stop();
  }
}
export const facts = { attacks: seen };

function countOf(refused: Readonly<Record<string, number>>): number {
  return Object.values(refused).reduce((sum, count) => sum + count, 0);
}
