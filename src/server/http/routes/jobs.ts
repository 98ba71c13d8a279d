import { FarthingError } from '@farthing/protocol/error';
import { isPayer, parseId, type WorkspaceId } from '@farthing/protocol/id';
import type { Job } from '@farthing/protocol/job';
import { JobSchema } from '@farthing/protocol/schema/items';
import { shownJob } from '@farthing/protocol/schema/shown';
import type { Services } from '../access/services.ts';
import { found, workspaceRoute } from '../access/workspace-access.ts';
import type { EventsReply } from '../exchange/reply.ts';
import type { Route } from '../exchange/route.ts';

/** Shortest time between events of a job. */
const EVENT_EVERY_MS = 250;

/** States and progress of a job as events; the last one is its end. @throws rate_limited */
function eventsOf({ ingest, tenantLimits }: Services, job: Job, signal: AbortSignal): EventsReply {
  const giveBack = tenantLimits.stream(job.tenant);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const events = async function* () {
    for await (const each of ingest.watch(job.id, EVENT_EVERY_MS, either))
      yield { event: 'job', data: shownJob(each) };
  };
  const close = () => {
    over.abort();
    giveBack();
  };
  return { status: 200, headers: {}, events: events(), close };
}

/** GET /agent/v1/jobs/{job_id}/events: free; the id is the credential. */
export function jobEventsRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/jobs/{job_id}/events',
    operation: { operationId: 'jobEvents', tag: 'Per request', ...EVENTS_OPERATION },
    handle: (exchange, { job_id }) => eventsOf(services, payerJob(services, job_id!), exchange.signal),
  };
}

/** GET /agent/v1/workspaces/{id}/jobs/{job_id}/events */
export function workspaceJobEventsRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/jobs/{job_id}/events'],
    { operationId: 'workspaceJobEvents', ...EVENTS_OPERATION },
    async ({ id }, { signal }, { job_id }) => eventsOf(services, workspaceJob(services, id, job_id!), signal),
  );
}

const EVENTS_OPERATION = {
  summary: 'How an ingest goes, as server-sent events',
  success: {
    status: 200,
    description: 'Events named `job`, each with the job as JSON; the stream ends with the job.',
    text: 'text/event-stream',
  },
  errors: [404, 429, 503],
} as const;

/** @throws job_not_found */
function payerJob({ ingest }: Services, id: string): Job {
  const job = jobOf(ingest, id);
  if (!job || job.held || !isPayer(job.tenant)) throw unknownJob();
  return job;
}

/** @throws job_not_found */
function workspaceJob({ ingest }: Services, workspace: WorkspaceId, id: string): Job {
  const job = jobOf(ingest, id);
  if (!job || job.tenant !== workspace) throw unknownJob();
  return job;
}

function jobOf(ingest: Services['ingest'], text: string): Job | undefined {
  const id = parseId('job', text);
  return id && ingest.job(id);
}

function unknownJob(): FarthingError {
  return new FarthingError('job_not_found', 'No such job here, or its record has been removed.');
}

/** GET /agent/v1/jobs/{job_id}: free; the id is the credential. A workspace's jobs are found under the workspace only. */
export function jobRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/jobs/{job_id}',
    operation: {
      operationId: 'job',
      summary: 'How a paid ingest goes',
      tag: 'Per request',
      success: { status: 200, description: 'State and progress.', schema: JobSchema },
      errors: [404, 503],
    },
    handle: (_exchange, { job_id }) => {
      const job = payerJob(services, job_id!);
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: shownJob(job) };
    },
  };
}

/** GET /agent/v1/workspaces/{id}/jobs/{job_id} */
export function workspaceJobRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/jobs/{job_id}'],
    {
      operationId: 'workspaceJob',
      summary: 'How an ingest of a workspace goes',
      success: { status: 200, description: 'State and progress.', schema: JobSchema },
      errors: [404, 503],
    },
    async ({ id }, _exchange, { job_id }) => found(shownJob(workspaceJob(services, id, job_id!))),
  );
}

/** DELETE /agent/v1/workspaces/{id}/jobs/{job_id}: cancels an ingest; only the job's state remains. */
export function cancelWorkspaceJobRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['DELETE', '/jobs/{job_id}'],
    {
      operationId: 'cancelWorkspaceJob',
      summary: 'Cancel an ingest of a workspace that has not ended',
      success: { status: 200, description: 'The cancelled job.', schema: JobSchema },
      errors: [404, 409, 429, 500, 503],
    },
    async ({ id }, _exchange, { job_id }) => {
      const job = workspaceJob(services, id, job_id!);
      return found(shownJob(await services.ingest.cancel(job.id)));
    },
  );
}
