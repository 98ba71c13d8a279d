import { FarthingError } from '../../domain/error.ts';
import { isId } from '../../domain/id.ts';
import type { Job } from '../../domain/job.ts';
import type { Route } from '../route.ts';
import { JobSchema } from '../schemas/items.ts';
import type { Services } from '../services.ts';
import { withWorkspace } from '../workspace-access.ts';

/** A job as its owner sees it: no tenant, no file name, no content. */
export function publicJob({
  id,
  item,
  state,
  progress,
  segments,
  created_at,
  updated_at,
  error,
}: Job): Record<string, unknown> {
  return { id, item, state, progress, segments, created_at, updated_at, ...(error && { error }) };
}

function unknownJob(): FarthingError {
  return new FarthingError('job_not_found', 'No such job here, or its record has been removed.');
}

/** GET /agent/v1/jobs/{job_id}: free for whoever has the id. A workspace's jobs are under the workspace only. */
export function jobRoute({ ingest }: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/jobs/{job_id}',
    operation: {
      operationId: 'job',
      summary: 'How a paid ingest goes',
      tag: 'Per request',
      success: { status: 200, description: 'State and progress.', schema: JobSchema },
      errors: [404],
    },
    handle: (_exchange, { job_id }) => {
      const job = isId('job', job_id!) ? ingest.job(job_id!) : undefined;
      if (!job || job.held || !job.tenant.startsWith('payer_')) throw unknownJob();
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: publicJob(job) };
    },
  };
}

/** GET /agent/v1/workspaces/{id}/jobs/{job_id} */
export function workspaceJobRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/workspaces/{id}/jobs/{job_id}',
    operation: {
      operationId: 'workspaceJob',
      summary: 'How an ingest of a workspace goes',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: 'State and progress.', schema: JobSchema },
      errors: [404],
    },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, async (workspace) => {
        const job = isId('job', params.job_id!) ? services.ingest.job(params.job_id!) : undefined;
        if (!job || job.tenant !== workspace.id) throw unknownJob();
        return { status: 200, headers: {}, body: publicJob(job) };
      }),
  };
}

/** DELETE /agent/v1/workspaces/{id}/jobs/{job_id}: cancels an ingest; nothing of it is left but the job's state. */
export function cancelWorkspaceJobRoute(services: Services): Route {
  return {
    method: 'DELETE',
    path: '/agent/v1/workspaces/{id}/jobs/{job_id}',
    operation: {
      operationId: 'cancelWorkspaceJob',
      summary: 'Cancel an ingest of a workspace that has not ended',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: 'The cancelled job.', schema: JobSchema },
      errors: [404, 409, 429, 500],
    },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, async (workspace) => {
        const job = isId('job', params.job_id!) ? services.ingest.job(params.job_id!) : undefined;
        if (!job || job.tenant !== workspace.id) throw unknownJob();
        return { status: 200, headers: {}, body: publicJob(await services.ingest.cancel(job.id)) };
      }),
  };
}
