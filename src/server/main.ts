import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { native } from '../native/index.ts';
import { ConfigError, configNotices, readConfig } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import { openLog } from './log.ts';
import { type Running, start } from './start.ts';
import { strayErrors } from './stray-errors.ts';

/** File in the data folder that says that the demo was shown. */
const DEMO_MARK = 'demo-shown';
/** Older ones cannot replace a reader's program by one that is confined. */
const NODE_MIN = [22, 15] as const;
/** A supervisor may signal the whole group and this process, too. */
const SAME_SIGNAL_MS = 1000;
let stoppingSince: number | undefined;
refuseOldNode();
const settings = readOrExplain();
const running = await start(settings).catch(explain);
for (const notice of configNotices(process.env)) running.log.warn({ event: 'setting_notice', ...notice });
const stray = strayErrors(running.alarm, endWith);
process.on('unhandledRejection', stray.unhandledRejection);
process.on('uncaughtException', stray.uncaughtException);
process.on('SIGTERM', () => void stop(running, settings));
process.on('SIGINT', () => void stop(running, settings));
// At every log level: programs that start the server wait for this line.
console.log(
  JSON.stringify({
    event: 'ready',
    url: running.url,
    metrics_url: running.metricsUrl,
    start_ms: running.startMilliseconds,
  }),
);
await showDemoOnce(settings, running);

function refuseOldNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  console.error(
    `Farthing does not start:\n  it needs Node ${NODE_MIN.join('.')}, and this is ${process.versions.node}: "make run" brings its own`,
  );
  native.endProcess(2);
}

function readOrExplain(): Settings {
  try {
    return readConfig(process.env);
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): never {
  if (error instanceof ConfigError)
    console.error(`Farthing does not start:\n${error.message.replace(/^/gm, '  ')}`);
  else console.error('Farthing does not start:', error);
  return native.endProcess(2);
}

async function showDemoOnce({ DEMO, DATA_DIR }: Settings, { url, log }: Running): Promise<void> {
  const mark = join(resolve(DATA_DIR), DEMO_MARK);
  if (DEMO === '0' || existsSync(mark)) return;
  try {
    const { runDemo } = await import('../demo/demo.ts');
    await runDemo(url, resolve(import.meta.dirname, '../../samples'), (line) => console.log(line));
    await writeFile(mark, '');
  } catch (error) {
    log.error({ event: 'demo_failed', err: error });
  }
}

/** Logs a last line and ends the process at once. */
function endWith(event: object): void {
  try {
    openLog(settings, { sync: true }).error(event);
  } finally {
    native.endProcess(1);
  }
}

/** Stops the server. A second signal or the deadline cuts the stop short; the next start finishes the rest. */
async function stop(server: Running, { STOP_NOTICE_SECONDS, STOP_SECONDS_MAX }: Settings): Promise<void> {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince > SAME_SIGNAL_MS) endWith({ event: 'stop_cut_short' });
    return;
  }
  stoppingSince = performance.now();
  server.log.info({ event: 'stopping' });
  setTimeout(
    () => endWith({ event: 'stop_deadline', seconds: STOP_SECONDS_MAX }),
    1000 * (STOP_NOTICE_SECONDS + STOP_SECONDS_MAX),
  ).unref();
  await server.stop();
  openLog(settings, { sync: true }).info({ event: 'stopped' });
  process.exit(0);
}
