/** Preloaded into a server: its parent sets its wall clock, by milliseconds from the true time. */
const now = Date.now;
let offset = 0;
Date.now = () => now() + offset;
process.on('message', (milliseconds: number) => {
  offset = milliseconds;
  process.send?.('set');
});
process.channel?.unref();
