import { readConfig } from '../../src/server/settings/config.ts';
import { start } from '../../src/server/start/start.ts';

/** A server as a process of its own, for tests that end it by force. Its parent moves the rented time by a message. */
let shift = 0;
process.on('message', (message: { advanceMs: number }) => {
  shift += message.advanceMs;
});
process.once('disconnect', () => process.exit(1));
const { url, startMilliseconds } = await start(readConfig(process.env), {
  monotonic: () => performance.now() + shift,
});
process.send?.({ url, startMs: startMilliseconds });
