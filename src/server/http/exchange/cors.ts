/** Headers that a browser's script may read. */
const EXPOSED = [
  'X-PAYMENT-RESPONSE',
  'PAYMENT-RESPONSE',
  'PAYMENT-REQUIRED',
  'X-Request-Id',
  'traceparent',
  'Retry-After',
  'Allow',
  'Preference-Applied',
  'X-Workspace-TTL-Seconds',
  'X-Workspace-TTL-Warning',
  'X-Workspace-Reserve-Minutes',
  'X-Workspace-Spend-Remaining-USD',
].join(', ');
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'X-PAYMENT',
  'PAYMENT-SIGNATURE',
  'Idempotency-Key',
  'Prefer',
  'Content-Disposition',
  'Item-Key',
  'Item-Metadata',
  'If-Match',
  'If-None-Match',
  'X-Request-Id',
  'Access-Control-Expose-Headers',
  'MCP-Protocol-Version',
  'traceparent',
  'tracestate',
].join(', ');
const PREFLIGHT_AGE_S = '86400';
/** With a list of origins every answer depends on the origin, a refusal included. */
const VARIES = { Vary: 'Origin' };

/** Origins whose scripts may call: `*`, or a list. Nothing is authenticated by cookies, so `*` is safe. */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers for any answer to a request with this `Origin`. */
  headers(origin: string | undefined): Record<string, string> {
    const allowed = this.#allowed(origin);
    return allowed === undefined ? VARIES : { ...allowed, 'Access-Control-Expose-Headers': EXPOSED };
  }

  preflight(origin: string | undefined): Record<string, string> {
    const allowed = this.#allowed(origin);
    if (allowed === undefined) return VARIES;
    return {
      ...allowed,
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, DELETE, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED,
      'Access-Control-Max-Age': PREFLIGHT_AGE_S,
    };
  }

  #allowed(origin: string | undefined): Record<string, string> | undefined {
    if (this.#origins.has('*')) return { 'Access-Control-Allow-Origin': '*' };
    if (origin !== undefined && this.#origins.has(origin))
      return { 'Access-Control-Allow-Origin': origin, ...VARIES };
    return undefined;
  }
}
