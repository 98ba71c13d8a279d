import type { SearchResult } from '@farthing/engine/search/search';
import type { Answer } from '@farthing/payment/purchase';
import { toFarthingError } from '@farthing/protocol/error';
import { isHouseKey } from '@farthing/protocol/house';
import type { WorkspaceRecord } from '../../workspace/workspace.ts';
import { bearerToken, type SearchServices } from '../access/workspace-access.ts';
import { OFF_THREAD_BYTES } from '../body/body.ts';
import type { RequestHead } from '../exchange/exchange.ts';
import { problem } from '../exchange/problem.ts';
import type { Answering, QuickAsk, QuickRequest, QuickWay } from '../exchange/quick.ts';
import { body, counted } from './search.ts';
import { readPlainSearch } from './search-body.ts';

const ROUTE = '/agent/v1/workspaces/{id}/search';
const PATH = /^\/agent\/v1\/workspaces\/([^/]+)\/search$/;
/** Headers of requests that are for the general way. */
const UNUSUAL = [
  'transfer-encoding',
  'content-encoding',
  'expect',
  'traceparent',
  'x-payment',
  'payment-signature',
  'idempotency-key',
];

/** The short way of `workspaceSearchRoute`: words with simple members, by a token that has opened its workspace of late. */
export function quickSearch(services: SearchServices): QuickWay {
  return {
    asks: (head) => {
      const workspace = opened(services, head);
      return workspace && new QuickSearch(services, workspace);
    },
  };
}

function opened(
  { workspaces }: SearchServices,
  { method, path, headers }: RequestHead,
): WorkspaceRecord | undefined {
  const id = method === 'POST' ? PATH.exec(path)?.[1] : undefined;
  const length = Number(headers.get('content-length') ?? 0);
  if (id === undefined || length === 0 || length > OFF_THREAD_BYTES) return undefined;
  if (UNUSUAL.some((name) => headers.has(name))) return undefined;
  const token = bearerToken({ header: (name) => headers.get(name) });
  return token === undefined || isHouseKey(token) ? undefined : workspaces.openedLately(id, token);
}

class QuickSearch implements QuickAsk {
  readonly route = ROUTE;
  readonly owner: string;
  readonly #services: SearchServices;
  readonly #workspace: WorkspaceRecord;

  constructor(services: SearchServices, workspace: WorkspaceRecord) {
    this.owner = services.gate.owners.of(workspace.id);
    this.#services = services;
    this.#workspace = workspace;
  }

  begin(bytes: ArrayBuffer, request: QuickRequest, answer: Answering): (() => void) | undefined {
    const { workspaces, tenantLimits, search } = this.#services;
    const workspace = this.#workspace;
    const { id } = workspace;
    const input = workspaces.stillOpens(workspace) ? readPlainSearch(Buffer.from(bytes)) : undefined;
    if (!input) return undefined;
    let leaveLimits: (() => void) | undefined;
    const mayBegin = () => {
      leaveLimits = tenantLimits.searchNow(id);
      return leaveLimits !== undefined;
    };
    const expiresAt = workspaces.views.expiryOf(workspace);
    const giveUp = search.begin(id, input, { expiresAt, mayBegin }, (found) => {
      if (found instanceof Promise) {
        answer(this.#late(found.then(answered), request).finally(end));
        return;
      }
      const reply = answered(found);
      end();
      answer(reply);
    });
    if (!giveUp) {
      leaveLimits?.();
      return undefined;
    }
    const leave = workspaces.enter(id);
    const end = () => {
      leaveLimits?.();
      leave();
    };
    const answered = (result: SearchResult): Answer => {
      workspaces.activity.countSearch(id, counted(input, result));
      const timing = { ...result.timing, total_ms: performance.now() - request.startedAt };
      return this.#withHeaders({ status: 200, headers: {}, body: body({ ...result, timing }, false) });
    };
    return () => {
      giveUp();
      end();
    };
  }

  async #late(answer: Promise<Answer>, { requestId }: QuickRequest): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (toFarthingError(error).code === 'internal') this.#services.onFault(error, requestId);
      return this.#withHeaders(problem(error, requestId));
    }
  }

  #withHeaders(answer: Answer): Answer {
    const { views } = this.#services.workspaces;
    const headers = { 'Cache-Control': 'private', ...answer.headers, ...views.headers(this.#workspace.id) };
    return { ...answer, headers };
  }
}
