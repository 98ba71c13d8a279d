import { FarthingError, type Item, previewPath } from '@farthing/client';
import { labelHeaders } from '@farthing/client/ingest';
import { queryOf } from '@farthing/client/preview';
import { isHouseKey } from '@farthing/protocol/house';
import { parseId } from '@farthing/protocol/id';
import type { SentFiles } from '@farthing/protocol/schema/mcp';
import { floorOf } from '@farthing/protocol/search';
import { type Answered, NO_WORKSPACE, PaymentNeeded, type Scope } from './backend.ts';
import { sourceOf } from './local-backend.ts';
import { ITEMS_DEFAULT, TOOL_K_DEFAULT, TOOL_LINES_DEFAULT } from './tool-arguments.ts';
import type { ArgumentsOf, Backend } from './tools.ts';

export interface RemoteDeps {
  /** Where the interface is reached from here. */
  readonly innerUrl: string;
  /** Its public address, for links. */
  readonly baseUrl: string;
  /** x402 payment of this call, as its client signed it. */
  readonly payment: unknown;
  /** The connection's workspace and token, unless a call names others. */
  readonly scope: Scope;
  readonly files: SentFiles;
  readonly signal: AbortSignal;
}

const WAIT_SECONDS = 60;
/** The interface takes 16 KiB of headers. */
const PAYMENT_LENGTH_MAX = 15_000;

/**
 * Calls the HTTP interface of its own server with the payment or token of the call, so that the rules for both stay in one
 * place. Signs nothing.
 */
export function remoteBackend(deps: RemoteDeps): Backend {
  const scopeOf = ({ workspace, token }: Scope): Scope => {
    if (workspace === NO_WORKSPACE) return {};
    const isOwn = workspace === undefined || workspace === deps.scope.workspace;
    return {
      workspace: workspace ?? deps.scope.workspace,
      token: token ?? (isOwn || isHouseKey(deps.scope.token) ? deps.scope.token : undefined),
    };
  };
  /** An item's address names its owner: without a workspace it is the payer's, even if the connection names one. */
  const ownerOf = (scope: Scope): Scope => (scope.workspace === undefined ? {} : scopeOf(scope));
  const needed = (scope: Scope): Scope & { workspace: string } => {
    const { workspace, token } = scopeOf(scope);
    if (workspace === undefined) throw unknownWorkspace();
    return { workspace, token };
  };
  const request = (method: string, scope: Scope, path: string, init: RequestInit = {}): Promise<Response> => {
    const { workspace, token } = scope;
    if (workspace !== undefined && parseId('workspace', workspace) === undefined) throw unknownWorkspace();
    // A header takes no other characters, and no token has any.
    if (token !== undefined && !TOKEN.test(token)) throw unknownWorkspace();
    const owner = workspace === undefined ? '' : `/workspaces/${workspace}`;
    const headers = new Headers(init.headers);
    if (workspace !== undefined) headers.set('Authorization', `Bearer ${token ?? ''}`);
    else if (deps.payment !== undefined) headers.set('PAYMENT-SIGNATURE', encode(deps.payment));
    const address = `${deps.innerUrl}/agent/v1${owner}${path}`;
    const duplex = init.body instanceof ReadableStream ? 'half' : undefined;
    return fetch(address, { ...init, duplex, method, headers, signal: deps.signal });
  };
  const send = async <T>(
    method: string,
    scope: Scope,
    path: string,
    init: RequestInit = {},
  ): Promise<Answered<T>> => ({
    ...(await read<T>(await request(method, scope, path, init))),
    scope,
  });
  return {
    search: ({ thumbnails: _, ...search }, scope) =>
      send('POST', scopeOf(scope), '/search', {
        body: searchBody(
          {
            k: TOOL_K_DEFAULT,
            min_confidence: floorOf(search.image_b64 !== undefined || search.like !== undefined),
            ...search,
          },
          deps.files.image_b64,
        ),
      }),
    grep: async (asked, scope) =>
      send('POST', needed(scope), '/grep', {
        body: JSON.stringify({ max_lines: TOOL_LINES_DEFAULT, ...asked }),
      }),
    ingest: async (file, scope) => {
      const { text = file.text, content_b64 = file.content_b64 } = deps.files;
      if (content_b64 === null)
        throw new FarthingError('field_invalid', 'content_b64: send the file’s bytes in base64.');
      const { source, name } = sourceOf({ ...file, text, content_b64 }, 'text and content_b64');
      const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name ?? 'upload')}`;
      const headers = {
        'Content-Disposition': disposition,
        Prefer: `wait=${WAIT_SECONDS}`,
        ...labelHeaders(file),
      };
      return send('POST', scopeOf(scope), '/ingest', { body: source, headers });
    },
    workspace_create: (args) => send('POST', {}, '/workspaces', { body: JSON.stringify(args) }),
    // Paid for, in a workspace: anybody may extend it.
    workspace_extend: async (args, scope) =>
      send('POST', needed(scope), '/extend', {
        body: JSON.stringify(args),
        ...(deps.payment !== undefined && { headers: { 'PAYMENT-SIGNATURE': encode(deps.payment) } }),
      }),
    workspace_end_reserve: async (_none, scope) => send('DELETE', needed(scope), '/reserve'),
    workspace_usage: async (_none, scope) => send('GET', needed(scope), '/usage'),
    workspace_dispose: async (_none, scope) => send('DELETE', needed(scope), ''),
    item_list: async ({ limit = ITEMS_DEFAULT, after }, scope) =>
      send('GET', needed(scope), `/items${queryOf({ limit, after })}`),
    item_read: async ({ item, page, time_s, from }, scope) =>
      send('GET', needed(scope), `/items/${encodeURIComponent(item)}/text${queryOf({ page, time_s, from })}`),
    item_delete: async ({ item }, scope) =>
      send('DELETE', needed(scope), `/items/${encodeURIComponent(item)}`),
    item: async (item, owner) =>
      (await send<Item>('GET', ownerOf(owner), `/items/${encodeURIComponent(item)}`)).body,
    preview: async (item, part, owner) => {
      const response = await request('GET', ownerOf(owner), previewPath(item, part));
      if (!response.ok) await read(response);
      return response.blob();
    },
    baseUrl: deps.baseUrl,
  };
}

const TOKEN = /^[!-~]*$/;
const PIECE_BYTES = 256 * 1024;

/** The picture is passed on as bytes, unparsed and uncopied. */
function searchBody(
  { image_b64, ...others }: ArgumentsOf<'search'>,
  picture?: Uint8Array,
): string | ReadableStream<Uint8Array> {
  if (!picture) return JSON.stringify({ image_b64, ...others });
  const rest = JSON.stringify(others).slice(1);
  const pieces: Uint8Array[] = [Buffer.from('{"image_b64":')];
  for (let at = 0; at < picture.length; at += PIECE_BYTES)
    pieces.push(picture.subarray(at, at + PIECE_BYTES));
  return ReadableStream.from([...pieces, Buffer.from(rest === '}' ? rest : `,${rest}`)]);
}

/** @throws PaymentNeeded for a 402, FarthingError for every other refusal */
async function read<T>(response: Response): Promise<Omit<Answered<T>, 'scope'>> {
  const body = (await response.json()) as Record<string, unknown>;
  const receipt = decode(response.headers.get('PAYMENT-RESPONSE'));
  if (response.status === 402)
    throw new PaymentNeeded(decode(response.headers.get('PAYMENT-REQUIRED')) ?? body, receipt);
  const warning = response.headers.get('X-Workspace-TTL-Warning') ?? undefined;
  if (response.status < 300) return { body: body as T, receipt, warning };
  const { code, detail, type: _type, title: _title, ...facts } = body;
  throw new FarthingError(code as FarthingError['code'], String(detail), { status: response.status, facts });
}

function unknownWorkspace(): FarthingError {
  return new FarthingError('workspace_unauthorized', 'Name the workspace and its token.');
}

/** A payment as a header. @throws request_malformed for one that no header has room for */
function encode(payment: unknown): string {
  const header = Buffer.from(JSON.stringify(payment)).toString('base64');
  if (header.length > PAYMENT_LENGTH_MAX)
    throw new FarthingError(
      'request_malformed',
      `The payment in _meta exceeds ${PAYMENT_LENGTH_MAX} bytes in base64.`,
    );
  return header;
}

function decode(header: string | null): Readonly<Record<string, unknown>> | undefined {
  if (header === null) return undefined;
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as Record<string, unknown>;
}
