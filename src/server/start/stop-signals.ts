/** A supervisor may signal the process group, and the launcher passes the signal on: both count as one within this time. */
const SAME_SIGNAL_MS = 1000;

/** Calls `stop` at the first SIGINT or SIGTERM, or when the launcher ends, and `again` at each later one. */
export function onStopSignals(stop: () => void, again: () => void): void {
  let stoppingSince: number | undefined;
  const signalled = () => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now();
      stop();
    } else if (performance.now() - stoppingSince > SAME_SIGNAL_MS) again();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, signalled);
  // The channel to the launcher has no messages, and keeps no program alive.
  process.channel?.unref();
}
