import { examine } from '../doctor/doctor.ts';
import { type CommandIo, EXIT, settingsOf } from '../io.ts';

const STATE_COLUMNS = 8;
const CHECK_COLUMNS = 28;

/** Writes what the doctor finds, each fault with its remedy. @returns 1 when there is a problem */
export async function runDoctor(json: boolean, io: CommandIo): Promise<number> {
  const { environment, write } = io;
  const findings = await examine(settingsOf(io), environment);
  const healthy = findings.every(({ state }) => state !== 'problem');
  if (json) write(`${JSON.stringify({ healthy, findings }, null, 2)}\n`);
  else {
    for (const { check, state, found, remedy } of findings) {
      write(`${state.padEnd(STATE_COLUMNS)} ${check.padEnd(CHECK_COLUMNS)} ${found}\n`);
      if (remedy) write(`${' '.repeat(STATE_COLUMNS + CHECK_COLUMNS + 2)}→ ${remedy}\n`);
    }
  }
  return healthy ? EXIT.done : EXIT.failed;
}
