import { randomBytes } from 'node:crypto';

/** W3C Trace Context (https://www.w3.org/TR/trace-context/): the caller's trace, and our span in it. */
export interface TraceContext {
  /** 32 hexadecimal digits, the caller's. */
  readonly traceId: string;
  /** 16 hexadecimal digits: this request's own. */
  readonly spanId: string;
  /** Two hexadecimal digits, as they came. */
  readonly flags: string;
}

const HEADER = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;

/** Undefined without a valid header: only requests that carry one are traced. */
export function traceOf(header: string | undefined): TraceContext | undefined {
  const found = HEADER.exec(header ?? '');
  if (!found) return undefined;
  return { traceId: found[1]!, spanId: randomBytes(8).toString('hex'), flags: found[2]! };
}

export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags}`;
}
