import { Store } from './store.ts';

/** One exchange with the server, for the list of requests. */
export interface Call {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** 0: no answer came. */
  readonly status: number;
  readonly milliseconds: number;
  readonly note?: string;
}

const CALLS_KEPT = 60;
export const calls = new Store<{ list: readonly Call[] }>({ list: [] });
let callCount = 0;

/** A refusal, by the code of its problem document. */
export class ServerError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly json?: object;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Not listed: it repeats. */
  readonly quiet?: boolean;
  readonly note?: string;
}

/** Sends a request to where the page came from. Answers of any status are given back. @throws ServerError `unreachable` */
export async function send(request: Request): Promise<Response> {
  const { method = 'GET', path, token, json, form, headers = {}, signal, quiet = false, note } = request;
  const started = performance.now();
  const tell = (status: number) => {
    if (!quiet) list({ method, path, status, milliseconds: performance.now() - started, note });
  };
  try {
    const response = await fetch(path, {
      method,
      body: form ?? (json && JSON.stringify(json)),
      headers: {
        ...(json && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      signal,
      cache: 'no-store',
      credentials: 'omit',
    });
    tell(response.status);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    tell(0);
    throw new ServerError(0, 'unreachable', 'The server does not answer. Is it still running?');
  }
}

/** Sends a request and reads its JSON. @throws ServerError for any status over 299 */
export async function ask<T>(request: Request): Promise<T> {
  return readJson<T>(await send(request));
}

export async function readJson<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  throw await refusal(response);
}

export async function refusal(response: Response): Promise<ServerError> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const code = String(body.code ?? body.error ?? `status_${response.status}`);
  return new ServerError(
    response.status,
    code,
    String(body.detail ?? body.error ?? `The answer was ${response.status}.`),
  );
}

function list(call: Omit<Call, 'number'>): void {
  callCount += 1;
  const path = call.path.replace(/(ws|item|job)_([0-9a-f]{4})[0-9a-f]+/g, '$1_$2…');
  calls.set({ list: [{ ...call, path, number: callCount }, ...calls.value.list].slice(0, CALLS_KEPT) });
}
