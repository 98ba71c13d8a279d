import { once } from 'node:events';
import { chmod, type FileHandle, open, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestOptions, request, type Server } from 'node:http';
import { isAbsolute, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Ledger } from '@farthing/payment/records/ledger';
import { FarthingError, toFarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import type { HouseKeys } from '../../workspace/house/house-keys.ts';
import type { WorkspaceViews } from '../../workspace/views/views.ts';
import type { Workspaces } from '../../workspace/workspaces.ts';
import type { LiveBackup } from '../backup/live-backup.ts';
import { askKeys } from './house-key-calls.ts';
import { streamLedger } from './ledger-stream.ts';
import { liabilitiesOf, type OwingBooks } from './liabilities.ts';
import { notePaymentRefund, notePrepaidRefund, type RefundBooks, type RefundChain } from './refunds.ts';

/**
 * The operator's access to a running server: HTTP with JSON over a socket in the data folder. Only the folder's owner may
 * open it, and it has no network address.
 */
const SOCKET_NAME = 'admin.sock';
const SOCKET_MODE = 0o600;
const PAGE = 500;

/** The parts that the operator controls. */
export interface Controlled {
  readonly workspaces: Pick<WorkspaceViews, 'list'> &
    Pick<Workspaces, 'disposeAsOperator'> & {
      show: WorkspaceViews['showAny'];
    };
  /** Undefined with several servers. */
  readonly house: HouseKeys | undefined;
  readonly backup: Pick<LiveBackup, 'take'>;
  /** The ledger of all stores here. */
  readonly ledger: () => Ledger;
  readonly owing: () => readonly OwingBooks[];
  /** Undefined on play money, and without a node. */
  readonly refundChain: RefundChain | undefined;
  rotateKey(): Promise<string>;
}

/** Path of the keys of the house. */
export const HOUSE_KEYS_PATH = 'house-keys';
/** Path of the ledger, which is streamed as lines. */
export const LEDGER_PATH = 'ledger';

/** Listens in the data folder. The caller holds its lock, so a socket that is there belongs to a dead server. */
export async function openOperatorSocket(
  data: string,
  controlled: Controlled,
): Promise<{ close(): Promise<void> }> {
  await rm(join(data, SOCKET_NAME), { force: true });
  const folder = await open(data, 'r');
  const server = createServer((message, answer) => {
    const { pathname, searchParams } = new URL(message.url ?? '', 'http://operator');
    if (pathname === `/${LEDGER_PATH}` && message.method === 'GET') {
      // The reader may stop at any time.
      const since = Number(searchParams.get('since') ?? 0);
      streamLedger(controlled.ledger(), liabilitiesOf(controlled.owing()), { since, answer }).catch(
        () => undefined,
      );
      return;
    }
    void reply(controlled, message).then(({ status, body }) => {
      answer.writeHead(status, { 'Content-Type': 'application/json' });
      answer.end(JSON.stringify(body));
    });
  });
  server.listen(socketIn(folder));
  await once(server, 'listening');
  await chmod(join(data, SOCKET_NAME), SOCKET_MODE);
  return {
    close: async () => {
      await closed(server);
      await folder.close();
    },
  };
}

/** A socket's path may have 107 bytes, and a data folder's may have more: the path leads through the open folder (Linux). */
function socketIn(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}/${SOCKET_NAME}`;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function reply(
  controlled: Controlled,
  message: IncomingMessage,
): Promise<{ status: number; body: object }> {
  try {
    return { status: 200, body: await perform(controlled, message) };
  } catch (error) {
    const { status, code, detail, cause } = toFarthingError(error);
    // The caller owns the server and may see the cause of a fault.
    const shown = code === 'internal' && cause instanceof Error ? cause.message : detail;
    return { status, body: { code, detail: shown } };
  }
}

async function perform(controlled: Controlled, { method, url = '' }: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(url, 'http://operator');
  const [, kind, id, ...rest] = pathname.split('/');
  if (kind === 'workspaces' && rest.length === 0)
    return performOnWorkspaces(controlled.workspaces, method, id, searchParams);
  if (kind === HOUSE_KEYS_PATH && rest.length === 0)
    return askKeys(controlled.house, {
      method,
      name: id && decodeURIComponent(id),
      terms: searchParams.get('terms'),
    });
  if (kind === 'backup' && method === 'POST') {
    const folder = searchParams.get('folder') ?? '';
    if (!isAbsolute(folder)) throw new FarthingError('field_invalid', 'folder: send an absolute path.');
    await controlled.backup.take(resolve(folder));
    return {};
  }
  const prepaid = controlled.owing().map((books) => books.prepaid);
  if (kind === 'prepaid' && method === 'GET' && id === undefined) return liabilitiesOf(controlled.owing());
  if (method === 'POST' && id !== undefined) {
    const transaction = searchParams.get('transaction') ?? '';
    const books: RefundBooks = { prepaid, ledger: controlled.ledger() };
    if (kind === 'prepaid') return notePrepaidRefund(books, id, transaction, controlled.refundChain);
    if (kind === LEDGER_PATH)
      return notePaymentRefund(
        books,
        { payer: id, nonce: rest[0] ?? '' },
        transaction,
        controlled.refundChain,
      );
  }
  if (kind === 'keys' && method === 'POST') return { kid: await controlled.rotateKey() };
  throw new FarthingError('not_found', 'No such command.');
}

async function performOnWorkspaces(
  workspaces: Controlled['workspaces'],
  method: string | undefined,
  id: string | undefined,
  query: URLSearchParams,
): Promise<object> {
  if (id === undefined && method === 'GET')
    return workspaces.list({ after: query.get('after') ?? undefined, limit: PAGE });
  const workspace = parseId('workspace', id ?? '');
  const shown = workspace && workspaces.show(workspace);
  if (!shown) throw new FarthingError('not_found', `There is no workspace ${id}.`);
  if (method === 'GET') return shown;
  if (method === 'DELETE') return workspaces.disposeAsOperator(shown.id);
  throw new FarthingError('method_not_allowed', 'Use GET or DELETE.');
}

/** Sends a request to the server that runs over a data folder. @throws Error with what to do, when none runs or it refuses */
export async function askServer<T>(
  data: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
): Promise<T> {
  const { answer, close } = await openAnswer(data, method, path);
  try {
    const body: unknown = await json(answer);
    if (answer.statusCode !== 200) throw new Error((body as { detail: string }).detail);
    return body as T;
  } finally {
    await close();
  }
}

/** The same, with the answer as it comes. @throws Error with what to do, when no server runs */
export async function openAnswer(
  data: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
): Promise<{ readonly answer: IncomingMessage; close(): Promise<void> }> {
  const folder = await open(data, 'r').catch(() => {
    throw new Error(`There is no ${data}: set FARTHING_DATA_DIR to the data folder of the server.`);
  });
  try {
    const answer = await send({ socketPath: socketIn(folder), method, path }, data);
    const close = async () => {
      answer.destroy();
      await folder.close();
    };
    return { answer, close };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

function send(options: RequestOptions, data: string): Promise<IncomingMessage> {
  const sent = request(options);
  sent.end();
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', (error: NodeJS.ErrnoException) => {
      const runs = error.code !== 'ENOENT' && error.code !== 'ECONNREFUSED';
      reject(
        runs
          ? error
          : new Error(`No server runs over ${data}: start it, or set FARTHING_DATA_DIR to its folder.`),
      );
    });
  });
}
