import { unlink } from 'node:fs/promises';
import { IngestResponseSchema } from '../../api/items.ts';
import { FarthingError } from '../../domain/error.ts';
import { isPayer, parseId, payerTenantId, storedId } from '../../domain/id.ts';
import { formatUsd } from '../../domain/money.ts';
import type { Address, Answer, Effect, EffectHandler, Quote } from '../../domain/payment.ts';
import type { Ingest, IngestAnswer, ReleasedIngest } from '../../ingest/ingest.ts';
import type { PayerIndex } from '../../workspace/payer/payer-index.ts';
import { ingestDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { named } from '../exchange/json.ts';
import { paid } from '../exchange/paid.ts';
import type { Operation, Route } from '../exchange/reply.ts';
import { receiveUpload, type StagedUpload } from '../exchange/upload.ts';
import type { Services } from '../services.ts';
import { shownItem } from '../shown-item.ts';
import { withWorkspace } from '../workspace-access.ts';
import { publicJob } from './jobs.ts';

const PATH = '/agent/v1/ingest';
const ERRORS = [400, 413, 415, 422, 429, 500, 503, 507];

/** POST /agent/v1/ingest: one file into the payer's ephemeral index. */
export function ingestRoute(services: Services): Route {
  const { ingest, prices, payerIndex } = services;
  const quote = (): Quote => ({
    amount: prices.ingest,
    resource: services.baseUrl() + PATH,
    description:
      'Upload one file (text, web pages, PDF, office documents, e-books, pictures, films, recordings, archives) into your own ephemeral index.',
    discovery: ingestDiscovery,
  });
  return {
    method: 'POST',
    path: PATH,
    operation: operation('ingest', 'Upload a file into the payer’s index', {
      security: 'payment',
      tag: 'Per request',
      price: { usd: formatUsd(prices.ingest) },
    }),
    handle: async (exchange) => {
      const reply = await paid(
        services,
        exchange,
        { quote: quote(), priceFixed: true, kind: 'ingest' },
        async (tenant, payer) => {
          ingest.admit(tenant);
          const upload = await receiveUpload(exchange, services.stagingFolder, services.limits);
          return {
            identity: {
              kind: 'multipart',
              fields: {},
              files: [{ field: 'file', name: upload.name, sha256: upload.sha256 }],
            },
            warnings: upload.warnings,
            mode: 'effect',
            run: async () => {
              const inspected = await ingest.inspect(tenant, upload);
              if ('duplicate' in inspected)
                return {
                  charged: false,
                  answer: ingestAnswer(inspected.duplicate, false, services.expiry(tenant)),
                };
              await payerIndex.ensure(tenant);
              const byCredit = await acceptByCredit(services, payer, () =>
                ingest.accept(tenant, upload, inspected.info, { held: false, creditTo: payer }),
              );
              if (byCredit) return { charged: false, answer: byCredit };
              const held = await ingest.accept(tenant, upload, inspected.info, {
                held: true,
                creditTo: payer,
              });
              if (held.duplicate)
                return { charged: false, answer: ingestAnswer(held, false, services.expiry(tenant)) };
              return { charged: true, effect: { kind: 'ingest', ref: { job: held.job.id } } };
            },
            dispose: () => discard(upload),
          };
        },
      );
      // Whatever comes of the wait, the bought answer goes out.
      return { ...reply, ...(await whenDone(services, exchange, reply).catch(() => reply)) };
    },
  };
}

/** POST /agent/v1/workspaces/{id}/ingest: included in the price of the workspace's time. */
export function workspaceIngestRoute(services: Services): Route {
  const { ingest } = services;
  return {
    method: 'POST',
    path: '/agent/v1/workspaces/{id}/ingest',
    operation: operation('ingestWorkspace', 'Upload a file into a workspace', {
      security: 'token',
      tag: 'Workspaces',
    }),
    handle: (exchange, params) =>
      withWorkspace(
        services,
        exchange,
        params.id!,
        async ({ id }) => {
          ingest.admit(id);
          const upload = await receiveUpload(exchange, services.stagingFolder, services.limits);
          try {
            const inspected = await ingest.inspect(id, upload);
            const accepted =
              'duplicate' in inspected
                ? inspected.duplicate
                : await ingest.accept(id, upload, inspected.info, { held: false });
            if (!accepted.duplicate) services.workspaces.countIngest(id);
            const answer = await whenDone(
              services,
              exchange,
              ingestAnswer(accepted, false, services.expiry(id)),
            );
            return { ...answer, body: { ...answer.body, ...named(upload.warnings) } };
          } finally {
            await discard(upload);
          }
        },
        'ingest',
      ),
  };
}

/** An earlier ingest that was paid for and failed pays for this one; undefined when there is no such credit. */
async function acceptByCredit(
  { credits, payerIndex }: Services,
  payer: Address,
  accept: () => Promise<IngestAnswer>,
): Promise<Answer | undefined> {
  const credit = await credits.use(payer);
  if (!credit) return undefined;
  try {
    const accepted = await accept();
    const tenant = payerTenantId(payer);
    if (accepted.duplicate) {
      await credits.giveBack(credit);
      return ingestAnswer(accepted, false, payerIndex.expiry(tenant));
    }
    await credits.spent(credit);
    await payerIndex.touch(tenant);
    const answer = ingestAnswer(accepted, false, payerIndex.expiry(tenant));
    return { ...answer, body: { ...answer.body, credit_used: true } };
  } catch (error) {
    await credits.giveBack(credit);
    throw error;
  }
}

/** A paid ingest's held job: released by the settlement, withdrawn when it fails. */
export function ingestEffect(
  ingest: Ingest,
  payerIndex: Pick<PayerIndex, 'touch' | 'expiry'>,
): EffectHandler {
  const release = async ({ job }: Effect['ref']) => {
    const released = await ingest.release(storedId('job', job));
    const { tenant } = released.job;
    if (!isPayer(tenant)) throw new FarthingError('internal', `job ${job} was never sold`);
    // An index that has ended meanwhile is not begun anew by what comes too late for it.
    if (released.item) await payerIndex.touch(tenant);
    return ingestAnswer(released, true, payerIndex.expiry(tenant));
  };
  return {
    commit: release,
    reissue: release,
    undo: ({ job }) => ingest.withdraw(storedId('job', job)),
    pending: async () => (await ingest.heldJobs()).map((job) => ({ job })),
  };
}

function ingestAnswer(
  { item: kept, job, duplicate }: ReleasedIngest,
  charged: boolean,
  expiresAt: string | null,
): Answer {
  const item = kept && shownItem(kept, expiresAt);
  const told = { job_id: job.id, job: publicJob(job), ...(duplicate && { duplicate }), charged };
  const body = { ...(item && { item }), ...told };
  return { status: 200, headers: {}, body };
}

/** With `Prefer: wait=N`: the same answer with the job's state when it ended or N seconds are over. */
async function whenDone(
  { ingest, items, limits, expiry }: Services,
  exchange: Exchange,
  answer: Answer,
): Promise<Answer> {
  const jobId = parseId('job', String(answer.body.job_id));
  const asked = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(exchange.header('prefer') ?? '')?.[1];
  if (answer.status !== 200 || !jobId || asked === undefined) return answer;
  const seconds = Math.min(Number(asked), limits.waitSecondsMax);
  const job = await ingest.waitFor(jobId, seconds * 1000, exchange.signal);
  if (!job) return answer;
  const kept = await items.item(job.tenant, job.item);
  const item = kept && shownItem(kept, expiry(job.tenant));
  const headers = { ...answer.headers, 'Preference-Applied': `wait=${seconds}` };
  return { ...answer, headers, body: { ...answer.body, ...(item && { item }), job: publicJob(job) } };
}

/** What was staged and not accepted goes; an accepted upload was moved away already. */
async function discard(upload: StagedUpload): Promise<void> {
  await unlink(upload.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

function operation(
  operationId: string,
  summary: string,
  rest: Pick<Operation, 'security' | 'tag' | 'price'>,
): Operation {
  return {
    operationId,
    summary,
    ...rest,
    requestBody: 'upload',
    success: { status: 200, description: 'The item and its job.', schema: IngestResponseSchema },
    errors: ERRORS,
  };
}
