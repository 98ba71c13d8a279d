/** Loaded into a server before it runs: counts its intervals, and tells their number when it is asked. */
const { setInterval: begin, clearInterval: end } = globalThis;
const running = new Set<unknown>();
globalThis.setInterval = ((...call: Parameters<typeof begin>) => {
  const timer = begin(...call);
  running.add(timer);
  return timer;
}) as typeof begin;
globalThis.clearInterval = (timer) => {
  running.delete(timer);
  end(timer);
};
process.on('message', () => process.send?.({ intervals: running.size }));
process.channel?.unref();
