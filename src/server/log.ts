import { type Logger, pino } from 'pino';
import type { AnsweredEvent } from '../http/exchange/server.ts';
import type { Settings } from '../settings/settings.ts';

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
  paths: SECRETS.flatMap((name) => ['', '*.', '*.*.', 'err.*.*.'].map((before) => redactPath(before, name))),
  censor: '[redacted]',
};

/**
 * Opens the log: JSON lines on the standard output.
 * @param sync each line is written before the call returns, for a process that ends without its exit handlers
 */
export function openLog({ LOG_LEVEL }: Pick<Settings, 'LOG_LEVEL'>, { sync = false } = {}): Logger {
  return pino({ level: LOG_LEVEL, redact }, pino.destination({ sync }));
}

function redactPath(before: string, name: string): string {
  return `${before.replace(/\.$/, '')}["${name}"]`;
}

/** The line of one request: its route, never its path, which may hold an id. */
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
