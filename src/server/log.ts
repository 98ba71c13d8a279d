import { type Logger, pino } from 'pino';
import type { AnsweredEvent } from '../http/exchange/server.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Members that hold what opens or pays for something. Nothing logs them on purpose; an error that carries a request or
 * its headers along would.
 */
const SECRETS = [
  'authorization',
  'x-payment',
  'payment-signature',
  'idempotency-key',
  'signature',
  'capability_token',
];
const redact = {
  paths: SECRETS.flatMap((name) => ['', '*.', '*.*.', 'err.*.*.'].map((before) => redactPath(before, name))),
  censor: '[redacted]',
};

/**
 * JSON lines on the standard output.
 * @param sync a line is written when the call returns: for what a process says before it ends without its exit handlers
 */
export function openLog({ LOG_LEVEL }: Pick<Settings, 'LOG_LEVEL'>, { sync = false } = {}): Logger {
  return pino({ level: LOG_LEVEL, redact }, pino.destination({ sync }));
}

function redactPath(before: string, name: string): string {
  return `${before.replace(/\.$/, '')}["${name}"]`;
}

/** The one line of a request: its route, never its path, which may hold an id. */
export function answeredLine({
  requestId,
  trace,
  method,
  route,
  status,
  code,
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
    ms: rounded(milliseconds),
    ...(stages && { stages: roundedAll(stages) }),
  };
}

function roundedAll(stages: object): Record<string, number> {
  return Object.fromEntries(
    Object.entries(stages).map(([stage, milliseconds]) => [stage, rounded(Number(milliseconds))]),
  );
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
