import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Preloaded into a server: tells its parent, each time it is asked, the longest turn of the event loop since then, in milliseconds. */
const RESOLUTION_MS = 1;
const NANOSECONDS = 1e6;

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on('message', () => {
  process.send?.(delays.max / NANOSECONDS - RESOLUTION_MS);
  delays.reset();
});
// The server ends when it wants to.
process.channel?.unref();
