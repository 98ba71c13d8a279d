import { roundedMs, roundedStages } from '@farthing/protocol/clock';
import { type Logger, pino, stdSerializers } from 'pino';
import type { AnsweredEvent } from '../http/exchange/server.ts';
import type { Settings } from '../settings/settings.ts';
import { readableLine } from './terminal/log-line.ts';
import { CLEAR_LINE } from './terminal/progress.ts';

/** Members that hold credentials or payments. Nothing logs them on purpose, but an error may carry a request with them. */
const SECRETS = [
  'authorization',
  'x-payment',
  'payment-signature',
  'idempotency-key',
  'signature',
  'capability_token',
];
const redact = {
  paths: SECRETS.flatMap((name) =>
    ['', '*.', '*.*.', 'err.*.*.', 'error.*.*.'].map((before) => redactPath(before, name)),
  ),
  censor: '[redacted]',
};

/** JSON has no errors: they would be `{}`. */
const serializers = { err: stdSerializers.err, error: stdSerializers.err };

/** Each line keeps its end. */
const LINE_START = /(?<=\n)(?!$)/;

type LogSettings = Pick<Settings, 'LOG_LEVEL' | 'LOG_FORMAT'>;

/** Whether the log is for a person: readable lines instead of JSON. */
export function isReadable({ LOG_FORMAT }: Pick<Settings, 'LOG_FORMAT'>): boolean {
  return LOG_FORMAT === 'text' || (LOG_FORMAT === 'auto' && process.stdout.isTTY === true);
}

export function logOptions(level: string) {
  return { level, redact, serializers };
}

/**
 * Opens the log on the standard output: JSON lines, or readable ones for a terminal.
 * @param sync each line is written before the call returns, for a process that ends without its exit handlers
 */
export function openLog(settings: LogSettings, { sync = false } = {}): Logger {
  const options = logOptions(settings.LOG_LEVEL);
  if (!isReadable(settings)) return pino(options, pino.destination({ sync }));
  // A step of the start may occupy the terminal's line.
  const begin = process.stdout.isTTY ? CLEAR_LINE : '';
  // Node writes there before the call returns, and waits where a slow reader's pipe is full.
  const write = (line: string) => void process.stdout.write(`${begin}${readableLine(line)}`);
  return pino(options, { write: (lines) => lines.split(LINE_START).forEach(write) });
}

/** Writes whole lines that another thread's logger has made, in one piece. */
export function writeLines(log: Logger, lines: string): void {
  const { [pino.symbols.streamSym]: stream } = log as unknown as { [pino.symbols.streamSym]: LineStream };
  stream.write(lines);
}

interface LineStream {
  write(lines: string): void;
}

function redactPath(before: string, name: string): string {
  return `${before.replace(/\.$/, '')}["${name}"]`;
}

/**
 * Writes the line of each answered request: a refusal is information, and what was answered or offered at a price is for who looks for it
 * (`debug`). It has no member that could hold a secret, and looking for some would cost more than all else of it.
 */
export function answeredLog(log: Logger): (event: AnsweredEvent) => void {
  const plain = log.child({}, { redact: [] });
  return (event) => {
    const { status } = event;
    const level = status >= 400 && status !== 402 ? 'info' : 'debug';
    if (plain.isLevelEnabled(level)) plain[level](answeredLine(event));
  };
}

/** Its route, never its path, which may hold an id. */
function answeredLine({
  requestId,
  trace,
  method,
  route,
  status,
  code,
  key,
  stages,
  milliseconds,
}: AnsweredEvent) {
  return {
    event: 'answered',
    request_id: requestId,
    ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }),
    method,
    route,
    status,
    ...(code !== undefined && { code }),
    ...(key !== undefined && { key }),
    ms: roundedMs(milliseconds),
    ...(stages && { stages: roundedStages(stages) }),
  };
}
