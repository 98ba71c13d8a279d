import { performance } from 'node:perf_hooks';

/**
 * Preloaded into a server: tells its parent, each time it is asked, the longest turn of the event loop since then, in milliseconds: by the
 * clock, and of the processor, which does not count how long other programs kept the thread waiting.
 */
const TICK_MS = 1;

let [clock, processor] = [0, 0];
let [lastClock, lastProcessor] = [performance.now(), processorMs()];

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

// A timer is called once in each turn that takes longer than it.
setInterval(() => {
  const [now, used] = [performance.now(), processorMs()];
  clock = Math.max(clock, now - lastClock - TICK_MS);
  processor = Math.max(processor, used - lastProcessor);
  [lastClock, lastProcessor] = [now, used];
}, TICK_MS).unref();
process.on('message', () => {
  process.send?.({ clock, processor });
  [clock, processor] = [0, 0];
});
// The server ends when it wants to.
process.channel?.unref();
