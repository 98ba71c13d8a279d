import { existsSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import type { Answer } from '@farthing/payment/purchase';
import { parseId } from '@farthing/protocol/id';
import { ALIASES_MAX, isCalled } from '@farthing/protocol/item';
import { IngestResponseSchema } from '@farthing/protocol/schema/items';
import { shownIngest, shownItem, shownJob } from '@farthing/protocol/schema/shown';
import type { IngestAnswer } from '../../ingest/ingest.ts';
import type { StagedUpload } from '../../ingest/ports/ports.ts';
import { type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { workspaceRoute } from '../access/workspace-access.ts';
import { ingestDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { named } from '../exchange/json.ts';
import type { Operation, Route } from '../exchange/route.ts';
import { receiveUpload } from '../exchange/upload.ts';

const PATH = '/agent/v1/ingest';
const ERRORS = [400, 409, 412, 413, 415, 422, 429, 500, 503, 507] as const;

/** POST /agent/v1/ingest: one file into the payer's ephemeral index. */
export function ingestRoute(services: Services): Route {
  return {
    method: 'POST',
    path: PATH,
    operation: {
      ...operation('ingest', 'Upload a file into the payer’s index'),
      security: 'payment',
      tag: 'Per request',
      price: services.prices.shown.ingest,
    },
    handle: async (exchange) => {
      const reply = await paid(services, exchange, paidUpload(services, exchange));
      // The paid answer is sent even if the wait fails.
      return { ...reply, ...(await whenDone(services, exchange, reply).catch(() => reply)) };
    },
  };
}

function paidUpload(services: Services, exchange: Exchange): PaidRoute {
  const { ingest, incoming, limits, prices, purchases } = services;
  return {
    kind: 'ingest',
    mode: 'effect',
    priceFixed: true,
    quote: () => ({
      amount: prices.ingest,
      resource: services.baseUrl() + PATH,
      description:
        'Upload one file (text, web pages, PDF, office documents, e-books, pictures, films, recordings, archives) into your own ephemeral index.',
      discovery: ingestDiscovery,
    }),
    prepare: async (tenant, payer) => {
      ingest.admit(tenant);
      const upload = await receiveUpload(exchange, incoming, limits);
      const file = { field: 'file', name: upload.name, sha256: upload.sha256 };
      return {
        identity: { kind: 'multipart', fields: labelsOf(upload), files: [file] },
        warnings: upload.warnings,
        run: () => purchases.ingest.buy(payer, upload, exchange.signal),
        dispose: () => discard(upload),
      };
    },
  };
}

/** POST /agent/v1/workspaces/{id}/ingest: included in the price of the workspace's time. */
export function workspaceIngestRoute(services: Services): Route {
  const { ingest } = services;
  return workspaceRoute(
    services,
    ['POST', '/ingest'],
    operation('ingestWorkspace', 'Upload a file into a workspace'),
    async ({ id }, exchange) => {
      ingest.admit(id);
      const upload = await receiveUpload(exchange, services.incoming, services.limits);
      try {
        const inspected = await ingest.inspect(id, upload, exchange.signal);
        const accepted =
          'duplicate' in inspected
            ? inspected.duplicate
            : await ingest.accept(id, upload, inspected.info, { held: false });
        if (!accepted.duplicate) services.workspaces.activity.countIngest(id);
        const body = shownIngest(accepted, false, services.expiry(id));
        const answer = await whenDone(services, exchange, { status: 200, headers: {}, body });
        const warnings = [...upload.warnings, ...labelWarnings(accepted, upload)];
        return { ...answer, body: { ...answer.body, ...named(warnings) } };
      } finally {
        await discard(upload);
      }
    },
    'ingest',
  );
}

/** Warnings for labels that are ignored because the same bytes were uploaded before. */
function labelWarnings({ item, duplicate }: IngestAnswer, { key, name, metadata }: StagedUpload): string[] {
  if (!duplicate || key !== undefined) return [];
  const isOther = metadata !== undefined && JSON.stringify(metadata) !== JSON.stringify(item.metadata);
  return [
    ...(isOther
      ? ['The same bytes are there with other metadata, which stays. Send a key to have both, or to replace.']
      : []),
    ...(isCalled(item, name)
      ? []
      : [`The same bytes have ${ALIASES_MAX} other names. This one is not kept.`]),
  ];
}

/** A file's labels, as part of the request's identity. */
function labelsOf({ key, metadata, onlyIf }: StagedUpload): Record<string, string> {
  return {
    ...(key !== undefined && { key }),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(onlyIf && { only_if: String(onlyIf.item) }),
  };
}

/** With `Prefer: wait=N`: the same answer with the job's state when it ended or N seconds are over. */
async function whenDone(
  { ingest, items, limits, expiry }: Services,
  exchange: Exchange,
  answer: Answer,
): Promise<Answer> {
  const jobId = parseId('job', String(answer.body.job_id));
  const wait = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(exchange.header('prefer') ?? '')?.[1];
  if (answer.status !== 200 || !jobId || wait === undefined) return answer;
  const seconds = Math.min(Number(wait), limits.waitSecondsMax);
  const job = await ingest.waitFor(jobId, seconds * 1000, exchange.signal);
  if (!job) return answer;
  const kept = await items.item(job.tenant, job.item);
  const item = kept && shownItem(kept, expiry(job.tenant));
  const headers = { ...answer.headers, 'Preference-Applied': `wait=${seconds}` };
  return { ...answer, headers, body: { ...answer.body, ...(item && { item }), job: shownJob(job) } };
}

/** Removes a staged upload that was not accepted; an accepted one has been moved away. */
async function discard(upload: StagedUpload): Promise<void> {
  // The answer waits for this: another thread is used only if there is something to remove.
  if (!existsSync(upload.path)) return;
  await unlink(upload.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

function operation(operationId: string, summary: string): Omit<Operation, 'tag' | 'security'> {
  return {
    operationId,
    summary,
    requestBody: 'upload',
    success: { status: 200, description: 'The item and its job.', schema: IngestResponseSchema },
    errors: ERRORS,
  };
}
