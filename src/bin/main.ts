import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fillingSpaces } from '@farthing/engine/encode/encoder';
import { native } from '@farthing/native';
import { VERSION } from '@farthing/protocol/version';
import { ConfigError, configNotices, readConfig } from '@farthing/server/settings/config';
import type { Settings } from '@farthing/server/settings/settings';
import { isReadable, openLog } from '@farthing/server/start/log';
import { refusalOf } from '@farthing/server/start/refusal';
import type { Running } from '@farthing/server/start/start';
import { onStopSignals } from '@farthing/server/start/stop-signals';
import { strayErrors } from '@farthing/server/start/stray-errors';
import { banner } from '@farthing/server/start/terminal/banner';
import { silentProgress, TerminalProgress } from '@farthing/server/start/terminal/progress';
import { start } from './start.ts';

/** File in the data folder: the demo has been shown. */
const DEMO_MARK = 'demo-shown';
/** The same: the first key has been shown. */
const KEY_MARK = 'key-shown';
/** `process.execve`, which starts the confined reader, came with this version. */
const NODE_MIN = [22, 15] as const;
refuseOldNode();
refuseWords(process.argv.slice(2));
const settings = readOrExplain();
const terminal = isReadable(settings) ? new TerminalProgress(say) : undefined;
if (terminal) say(`\nFarthing ${VERSION}\n\n`);
const running = await start(settings, {}, terminal ?? silentProgress).catch(explain);
for (const notice of configNotices(process.env)) running.log.warn({ event: 'setting_notice', ...notice });
const stray = strayErrors(running.alarm, endWith);
process.on('unhandledRejection', stray.unhandledRejection);
process.on('uncaughtException', stray.uncaughtException);
onStopSignals(
  () => void stop(running, settings),
  () => endWith({ event: 'stop_cut_short' }),
);
void running.lost.then(endWith);
announce(running, await firstKeyOnce(settings, running));
void running.warm();
await showDemoOnce(settings, running);

function say(text: string): void {
  process.stdout.write(text);
}

function refuseOldNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  console.error(
    `Farthing does not start:\n  it needs Node ${NODE_MIN.join('.')}, and this is ${process.versions.node}: "make run" brings its own`,
  );
  native.endProcess(2);
}

/** The program takes no arguments. Answers --help, and refuses all others. */
function refuseWords([first]: readonly string[]): void {
  if (first === undefined) return;
  const isHelp = first === '--help' || first === '-h';
  const hint = 'Settings are environment variables or in farthing.json: npx farthing serve --help';
  if (isHelp) console.log(`Starts a Farthing server. ${hint}`);
  else console.error(`The server takes no arguments: ${JSON.stringify(first)} is unknown. ${hint}`);
  native.endProcess(isHelp ? 0 : 2);
}

function readOrExplain(): Settings {
  try {
    return readConfig(process.env);
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): never {
  terminal?.fail();
  const refusal = error instanceof ConfigError ? error.message : refusalOf(error);
  if (refusal === undefined) console.error('Farthing does not start:', error);
  else console.error(`Farthing does not start:\n${refusal.replace(/^/gm, '  ')}`);
  // Exit code 2: restarting cannot help, a setting must change.
  return native.endProcess(error instanceof ConfigError ? 2 : 1);
}

/** Says that the server answers: the banner on a terminal, elsewhere a line of JSON, at every log level: programs wait for it. */
function announce(
  { url, adminPort, metricsUrl, startMilliseconds, encoder }: Running,
  key: string | undefined,
): void {
  if (!terminal) {
    const line = { event: 'ready', url, metrics_url: metricsUrl, start_ms: startMilliseconds };
    openLog({ ...settings, LOG_LEVEL: 'info' }, { sync: true }).info(line);
    return;
  }
  const models = fillingSpaces(encoder)
    .map(({ weights }) => weights)
    .filter((weights) => !/ over /.test(weights));
  const missing = encoder.missing.map(({ space, asksWith, reason }) => `${space} by ${asksWith} (${reason})`);
  say(`\n${banner(settings, { url, adminPort, metricsUrl, key, models: [...new Set(models)], missing })}\n`);
}

/** The first start makes a key for the operator's own agents. A person sees it: a log would keep it. */
async function firstKeyOnce({ DATA_DIR }: Settings, { firstKey, log }: Running): Promise<string | undefined> {
  const [mark, demo] = [KEY_MARK, DEMO_MARK].map((name) => join(resolve(DATA_DIR), name)) as [string, string];
  if (!terminal || !process.stdout.isTTY || existsSync(mark) || existsSync(demo)) return undefined;
  try {
    const key = await firstKey();
    await writeFile(mark, '');
    return key;
  } catch (error) {
    log.error({ event: 'first_key_failed', err: error });
    return undefined;
  }
}

async function showDemoOnce({ DEMO, DATA_DIR }: Settings, { url, log }: Running): Promise<void> {
  // Without a terminal, programs read the log.
  if (!terminal) return;
  const mark = join(resolve(DATA_DIR), DEMO_MARK);
  if (DEMO === '0' || existsSync(mark)) return say(`Open ${url} in a browser. Ctrl-C stops the server.\n\n`);
  const { level } = log;
  // The demo prints its own requests.
  log.level = 'warn';
  try {
    const { runDemo } = await import('@farthing/server/demo/demo');
    await runDemo(url, resolve(import.meta.dirname, '../../samples'), (line) => console.log(line));
    await writeFile(mark, '');
  } catch (error) {
    log.error({ event: 'demo_failed', err: error });
  } finally {
    log.level = level;
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
  server.log.info({ event: 'stopping' });
  setTimeout(
    () => endWith({ event: 'stop_deadline', seconds: STOP_SECONDS_MAX }),
    1000 * (STOP_NOTICE_SECONDS + STOP_SECONDS_MAX),
  ).unref();
  await server.stop();
  openLog(settings, { sync: true }).info({ event: 'stopped' });
  process.exit(0);
}
