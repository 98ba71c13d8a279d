import { roundedMs } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { readFilter } from '@farthing/protocol/labels/filter';
import { GrepRequestSchema, GrepResponseSchema } from '@farthing/protocol/schema/grep';
import { LINES_DEFAULT } from '@farthing/protocol/search';
import type { Services } from '../access/services.ts';
import { found, workspaceRoute } from '../access/workspace-access.ts';
import { named, parseJsonObject, Validator } from '../exchange/json.ts';
import type { Route } from '../exchange/route.ts';
import { ANY_FILTER, refuseFilterLike } from './search-body.ts';

const validator = new Validator(GrepRequestSchema, undefined, [ANY_FILTER]);

/** POST /agent/v1/workspaces/{id}/grep: lines that match a regular expression. Included in the price of the workspace's time. */
export function grepRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['POST', '/grep'],
    {
      operationId: 'grepWorkspace',
      summary: 'Lines of a workspace’s texts that match a regular expression',
      requestBody: {
        schema: GrepRequestSchema,
        required: true,
        example: { pattern: '\\bfilter(s|ed)?\\b', ignore_case: true },
      },
      success: { status: 200, description: 'The lines, in order of upload.', schema: GrepResponseSchema },
      errors: [400, 413, 429, 500, 503],
    },
    async (workspace, exchange) => {
      const { search, limits, workspaces } = services;
      const body = await exchange.body.whole(limits.jsonBodyBytesMax);
      const started = performance.now();
      const sent = parseJsonObject(body.toString('utf8'));
      refuseFilterLike(sent, '', GrepRequestSchema);
      const { value, warnings } = validator.validate(sent);
      const { pattern, ignore_case: ignoreCase = false, max_lines: linesMax = LINES_DEFAULT } = value;
      const { context, after } = value;
      const filter = value.filter === undefined ? undefined : readFilter(value.filter);
      const expiresAt = workspaces.views.expiryOf(workspace);
      const input = {
        ...{ pattern, ignoreCase, linesMax },
        ...(context !== undefined && { context }),
        ...(after !== undefined && { after }),
        ...(filter !== undefined && { filter }),
      };
      const { lines, next } = await search
        .grep(workspace.id, input, exchange.signal, expiresAt)
        .catch(ofField);
      const latency_ms = roundedMs(performance.now() - started);
      return found({ lines, truncated: next !== null, next, latency_ms, ...named(warnings) });
    },
    'search',
    'read',
  );
}

/** The index begins a refusal with the field's name. */
function ofField(error: unknown): never {
  if (!(error instanceof FarthingError) || error.code !== 'field_invalid') throw error;
  throw new FarthingError(error.code, error.detail, {
    facts: { field: error.detail.split(':', 1)[0]! },
    cause: error,
  });
}
