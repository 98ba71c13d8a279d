import { Store } from '../state/store.ts';

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
const NOTE_LENGTH_MAX = 80;
/** Not listed: they repeat. */
const QUIET = /\/(usage|readyz|preview|jobs\/[^/]+)$/;
export const calls = new Store<{ list: readonly Call[] }>({ list: [] });
let callCount = 0;

/** The browser's fetch; lists each request, as an example for authors of agents. */
export const listedFetch: typeof fetch = async (input, init) => {
  const { pathname } = new URL(String(input));
  const started = performance.now();
  const tell = (status: number) => {
    if (!QUIET.test(pathname)) list(pathname, init, status, performance.now() - started);
  };
  try {
    const response = await fetch(input, { ...init, cache: 'no-store', credentials: 'omit' });
    tell(response.status);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) tell(0);
    throw error;
  }
};

function list(pathname: string, init: RequestInit | undefined, status: number, milliseconds: number): void {
  callCount += 1;
  const path = pathname.replace(/(ws|item|job)_([0-9a-f]{4})[0-9a-f]+/g, '$1_$2…');
  const call = { number: callCount, method: init?.method ?? 'GET', path, status, milliseconds };
  calls.set({ list: [{ ...call, note: noteOf(init, status) }, ...calls.value.list].slice(0, CALLS_KEPT) });
}

/** A request's purpose, in few words. */
function noteOf(init: RequestInit | undefined, status: number): string | undefined {
  const headers = new Headers(init?.headers);
  if (headers.has('PAYMENT-SIGNATURE')) return 'with a signed payment';
  if (status === 402) return 'asks for the price';
  const name = /filename\*=UTF-8''(.+)$/.exec(headers.get('Content-Disposition') ?? '')?.[1];
  if (name !== undefined) return decodeURIComponent(name).slice(0, NOTE_LENGTH_MAX);
  if (typeof init?.body !== 'string') return undefined;
  const { query, image_b64 } = JSON.parse(init.body) as { query?: string; image_b64?: string };
  return query?.slice(0, NOTE_LENGTH_MAX) ?? (image_b64 && 'a picture');
}
