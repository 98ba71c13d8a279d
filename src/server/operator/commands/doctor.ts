import { examine, examineByPaying } from '../doctor/doctor.ts';
import { screenOf } from '../finding.ts';
import { type CommandIo, EXIT, settingsOf } from '../io.ts';

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
