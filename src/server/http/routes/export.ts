import { FarthingError } from '@farthing/protocol/error';
import { EXPORT_MEDIA_TYPE, type ExportLine } from '@farthing/protocol/schema/export';
import { Type } from '@sinclair/typebox';
import { exportLines } from '../../ingest/export.ts';
import type { WorkspaceRecord } from '../../workspace/workspace.ts';
import type { Services } from '../access/services.ts';
import { workspaceRoute } from '../access/workspace-access.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { shownJson } from '../exchange/json-text.ts';
import type { ContentReply } from '../exchange/reply.ts';
import type { Route } from '../exchange/route.ts';

/** GET /agent/v1/workspaces/{id}/export: all that a workspace holds, as lines of JSON. */
export function exportRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/export'],
    {
      operationId: 'exportWorkspace',
      summary: 'Everything in a workspace, as lines of JSON (NDJSON)',
      parameters: [
        {
          name: 'content',
          in: 'query',
          description:
            'Whether the uploaded files are in it, as base64. An import needs them. Default: false.',
          schema: Type.Boolean(),
        },
        {
          name: 'vectors',
          in: 'query',
          description:
            'Whether the vectors of passages and pictures are in it, as base64 of little-endian float32. An import leaves them out. Default: false.',
          schema: Type.Boolean(),
        },
      ],
      success: {
        status: 200,
        description: 'Lines of JSON. The last has the type `end`; without it the export is incomplete.',
        file: EXPORT_MEDIA_TYPE,
      },
      errors: [400, 429, 500, 503],
    },
    (workspace, exchange) => startOf(services, exchange, workspace),
  );
}

async function startOf(
  services: Services,
  exchange: Exchange,
  { id }: WorkspaceRecord,
): Promise<ContentReply> {
  const [content, vectors] = [flagOf(exchange, 'content'), flagOf(exchange, 'vectors')];
  const giveBack = services.tenantLimits.export(id);
  let hasEnded = false;
  // A disposal waits for what is being sent: an export stops.
  const leave = services.workspaces.enter(id, () => {
    hasEnded = true;
  });
  const exportedAt = new Date().toISOString();
  const lines = exportLines(services.items, id, {
    content,
    vectors,
    exportedAt,
    expiry: () => services.expiry(id),
    hasEnded: () => hasEnded,
  });
  return {
    status: 200,
    headers: {
      'Content-Type': EXPORT_MEDIA_TYPE,
      'Content-Disposition': `attachment; filename="${id}.ndjson"`,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
    },
    content: {
      bytes: undefined,
      pieces: encoded(lines),
      isComplete: () => !hasEnded,
      close: async () => {
        await lines.return(undefined).finally(() => {
          leave();
          giveBack();
        });
      },
    },
  };
}

async function* encoded(lines: AsyncIterable<ExportLine>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${shownJson(line)}\n`);
}

/** @throws field_invalid */
function flagOf({ head }: Exchange, field: string): boolean {
  const text = new URLSearchParams(head.query).get(field) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new FarthingError('field_invalid', `${field}: send true or false.`, { facts: { field } });
}
