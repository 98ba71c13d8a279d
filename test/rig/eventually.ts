import { setTimeout as pause } from 'node:timers/promises';

/** On a busy machine. */
const MS_MAX = 60_000;
const EVERY_MS = 10;

/** Resolves once something holds, which is asked again and again. @throws when it does not hold for a minute */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MS_MAX;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it never held: ${holds}`);
    await pause(EVERY_MS);
  }
}
