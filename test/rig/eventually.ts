import { setTimeout as pause } from 'node:timers/promises';

/** On a busy machine. */
const MS_MAX = 60_000;
/** What is asked may be costly: less often the longer it takes. */
const EVERY_MS = { first: 10, growth: 1.5, max: 200 };

/** Resolves once something holds, which is asked again and again. @throws when it does not hold for a minute */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MS_MAX;
  for (
    let every = EVERY_MS.first;
    !(await holds());
    every = Math.min(EVERY_MS.max, every * EVERY_MS.growth)
  ) {
    if (performance.now() > deadline) throw new Error(`it never held: ${holds}`);
    await pause(every);
  }
}
