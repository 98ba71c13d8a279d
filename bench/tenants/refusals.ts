import { Agent, request } from 'node:http';
import { quantile } from '../rig/agent.ts';

/** Milliseconds from the request to the end of its answer, over a connection that is kept. */
function timed(agent: Agent, url: string, token: string): Promise<number> {
  const before = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers: { Authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode !== 401) reject(new Error(`a refusal was answered ${answer.statusCode}`));
      answer.resume();
      answer.once('end', () => resolve(performance.now() - before));
    });
    asked.once('error', reject);
    asked.end();
  });
}

/**
 * Wrong id against wrong token, in turns over one connection, so that whatever else the machine does falls on both. Wrong
 * tokens are measured twice: what they differ by is chance.
 */
export async function compareRefusals(serverUrl: string, known: string, rounds: number): Promise<object> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const hex = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  const token = () => `fws_${Buffer.from(hex() + hex(), 'hex').toString('base64url')}`;
  const usage = (id: string) => `${serverUrl}/agent/v1/workspaces/${id}/usage`;
  const [wrongId, wrongToken, control]: [number[], number[], number[]] = [[], [], []];
  const kinds = [
    [wrongId, () => `ws_${hex()}`],
    [wrongToken, () => known],
    [control, () => known],
  ] as const;
  const warmUp = Math.ceil(rounds / 10);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let turn = 0; turn < kinds.length; turn += 1) {
      // Each kind comes first, second and last equally often.
      const [into, id] = kinds[(turn + round + warmUp) % kinds.length]!;
      const milliseconds = await timed(agent, usage(id()), token());
      if (round >= 0) into.push(milliseconds);
    }
  }
  agent.destroy();
  const micro = (values: readonly number[]) => 1000 * quantile(values, 0.5);
  return {
    wrong_id: { value: micro(wrongId), unit: 'µs', peer: 'wrong token', peer_value: micro(wrongToken) },
    wrong_token_again_us: micro(control),
  };
}
