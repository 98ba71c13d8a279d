import type { Finding } from '@farthing/protocol/schema/operator';
import { examine, examineByPaying } from '../doctor/doctor.ts';
import { type CommandIo, EXIT, settingsOf } from '../io.ts';

const STATE_COLUMNS = 8;
const CHECK_COLUMNS = 28;

/** Writes what the doctor finds, each fault with its remedy. `pays`: it also buys something. @returns 1 when there is a problem */
export async function runDoctor(
  { json, pays }: { json: boolean; pays: boolean },
  io: CommandIo,
): Promise<number> {
  const { environment, cluster, write } = io;
  const examined = { settings: settingsOf(io), environment, cluster };
  const findings = await (pays ? examineByPaying : examine)(examined);
  const healthy = findings.every(({ state }) => state !== 'problem');
  if (json) write(`${JSON.stringify({ healthy, findings }, null, 2)}\n`);
  else write(screenOf(findings));
  return healthy ? EXIT.done : EXIT.failed;
}

/** What was found, a line each, with the remedy below. */
export function screenOf(findings: readonly Finding[]): string {
  return findings
    .map(({ check, state, found, remedy }) => {
      const line = `${state.padEnd(STATE_COLUMNS)} ${check.padEnd(CHECK_COLUMNS)} ${found}\n`;
      const indent = ' '.repeat(STATE_COLUMNS + CHECK_COLUMNS + 2);
      return remedy === undefined ? line : `${line}${indent}→ ${remedy}\n`;
    })
    .join('');
}
