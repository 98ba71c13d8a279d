/** A supervisor may signal the whole group, and its launcher this process too. */
const SAME_SIGNAL_MS = 1000;

/** Calls `stop` at the first SIGINT or SIGTERM, or the launcher's end, and `again` at each that isn't the same one passed on. */
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
