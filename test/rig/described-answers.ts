import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

/** Headers that any HTTP answer may have; every other one must be described. */
const UNDESCRIBED_HEADERS =
  /^(content-type|content-length|date|connection|keep-alive|transfer-encoding|cache-control|vary|uwebsockets|access-control-.*)$/;

/** What is for browsers and crawlers: the console's pages and their parts. */
const OTHER_PROTOCOLS = /^(\/(assets\/.*|robots\.txt|favicon\.ico|\.well-known\/security\.txt)?)?$/;

type Described = Readonly<{
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}>;
export interface Description {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { responses: Record<string, Described> } & Record<string, unknown>>>
    >
  >;
}

/** One answer, and what it was an answer to. */
export interface SeenAnswer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined for a body that is no text. */
  readonly text: string | undefined;
}

/** Compares answers with a server's own /openapi.json: status, headers, media type, and every member of the body. */
export class DescribedAnswers {
  readonly #description: Description;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(description: Description) {
    this.#description = description;
    ajvFormats.default(this.#ajv);
    this.#ajv.addSchema(closed(description) as AnySchema, 'urn:farthing:api');
  }

  /** What the description doesn't say; empty for an answer that is as described. */
  faults({ method, url, status, headers, text }: SeenAnswer): string[] {
    // As it was sent: a URL object resolves `..`.
    const pathname = url.replace(/^https?:\/\/[^/]*/, '').replace(/[?#].*$/, '');
    if (OTHER_PROTOCOLS.test(pathname)) return [];
    if (method === 'OPTIONS') return status === 204 && text === '' ? [] : [`OPTIONS was answered ${status}`];
    const path = this.#pathOf(pathname);
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = path === undefined ? undefined : this.#description.paths[path]?.[verb];
    // What no operation describes is told so by a problem document.
    if (path === undefined || operation === undefined) return this.#refusal(path, status, text);
    const described = operation.responses[status];
    if (!described) return [`the status ${status} is not described`];
    const unknown = [...headers.keys()].filter(
      (name) =>
        !UNDESCRIBED_HEADERS.test(name) &&
        !Object.keys(described.headers ?? {}).some((one) => one.toLowerCase() === name),
    );
    const faults = unknown.map((name) => `the header ${name} is not described`);
    if (method === 'HEAD') return faults;
    const type = (headers.get('content-type') ?? '').split(';')[0]!.trim();
    const content = described.content ?? {};
    if (Object.keys(content).length === 0 && text === '') return faults;
    if (content['*/*'] || (content[type] && text === undefined)) return faults;
    if (!content[type]) return [...faults, `the media type ${type} is not described`];
    const pointer = ['paths', path, verb, 'responses', String(status), 'content', type, 'schema'];
    return [...faults, ...this.#bodyFaults(pointer, type, text)];
  }

  #refusal(path: string | undefined, status: number, text: string | undefined): string[] {
    const expected = path === undefined ? [404] : [405];
    // A head that can be read in two ways is refused before its path is looked at.
    if (!expected.includes(status) && status !== 400) return [`${status} where no operation is described`];
    return text === '' ? [] : this.#bodyFaults(['components', 'schemas', 'Problem'], 'json', text);
  }

  #bodyFaults(pointer: readonly string[], type: string, text: string | undefined): string[] {
    const value: unknown = type.endsWith('json') ? JSON.parse(text ?? '') : text;
    const long = documentsIn(type, text ?? '').flatMap((document) => longNumbers(document));
    if (long.length > 0) return long;
    const validate = this.#validator(pointer);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || 'the body'} ${message}: ${JSON.stringify(params)}`,
    );
  }

  #validator(pointer: readonly string[]): ValidateFunction {
    const escaped = pointer.map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const $ref = `urn:farthing:api#/${escaped.join('/')}`;
    const validate = this.#validators.get($ref) ?? this.#ajv.compile({ $ref });
    this.#validators.set($ref, validate);
    return validate;
  }

  #pathOf(pathname: string): string | undefined {
    const segments = pathname.split('/');
    return Object.keys(this.#description.paths).find((path) => {
      const pattern = path.split('/');
      return (
        pattern.length === segments.length &&
        pattern.every((part, index) =>
          part.startsWith('{') ? segments[index] !== '' : part === segments[index],
        )
      );
    });
  }
}

/** Every JSON document of a body: events and lines have several. */
function documentsIn(type: string, text: string): unknown[] {
  if (type.endsWith('ndjson')) return text.split('\n').filter(Boolean).map(parsed);
  if (type === 'text/event-stream')
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => parsed(data!));
  return type.endsWith('json') ? [parsed(text)] : [];
}

/** Undefined for the end of a body that was cut off. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Numbers with more than six digits after the point, but for what the client chose and `score`. */
function longNumbers(value: unknown, at = 'the body'): string[] {
  if (typeof value === 'number') return /\.\d{7}|e-/.test(String(value)) ? [`${at} is ${value}`] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => name !== 'metadata' && name !== 'score')
    .flatMap(([name, part]) => longNumbers(part, `${at}/${name}`));
}

/** The description with every object closed that doesn't say that it is open: a member that it doesn't name is a fault. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]));
  const isObject = copy.type === 'object' && copy.properties !== undefined;
  return isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}

const servers = new Map<string, DescribedAnswers>();
/** Descriptions differ by their address alone: one is compiled for all servers of a test. */
const compiled = new Map<string, DescribedAnswers>();
const plainFetch = globalThis.fetch;

/** From now on, `fetch` in this process rejects answers of this server that its description doesn't allow. */
export async function watchAnswers(url: string): Promise<DescribedAnswers> {
  const text = await (await plainFetch(`${url}/openapi.json`)).text();
  const key = text.replaceAll(url, '');
  const described = compiled.get(key) ?? new DescribedAnswers(JSON.parse(text) as Description);
  compiled.set(key, described);
  servers.set(new URL(url).origin, described);
  globalThis.fetch = watchedFetch;
  return described;
}

const watchedFetch: typeof fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined;
  const url = request?.url ?? String(input);
  const response = await plainFetch(input, init);
  const described = servers.get(new URL(url).origin);
  if (!described) return response;
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
  const { status, headers } = response;
  // Files may be large, and are read as slowly as a test wants to.
  if (headers.has('content-disposition')) {
    explain(described.faults({ method, url, status, headers, text: undefined }));
    return response;
  }
  // Read once and given on as a copy: the two ends of a clone can wait for each other.
  const bytes = await response.arrayBuffer();
  const isText = !(headers.get('content-type') ?? '').startsWith('image/');
  const text = isText ? new TextDecoder().decode(bytes) : undefined;
  explain(described.faults({ method, url, status, headers, text }));
  const body = bytes.byteLength === 0 ? null : bytes;
  const copy = new Response(body, { status, statusText: response.statusText, headers });
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;

  function explain(faults: readonly string[]): void {
    if (faults.length > 0)
      throw new Error(
        `${method} ${url} was answered ${status}, and not as described:\n  ${faults.join('\n  ')}`,
      );
  }
};
