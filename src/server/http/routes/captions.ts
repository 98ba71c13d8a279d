import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import type { Services } from '../access/services.ts';
import { workspaceRoute } from '../access/workspace-access.ts';
import type { Route } from '../exchange/route.ts';

const VTT = 'text/vtt';
const HEADERS = {
  'Content-Type': `${VTT}; charset=utf-8`,
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cache-Control': 'private, no-store',
};

/** GET /agent/v1/workspaces/{id}/items/{item_id}/captions: what is said in a recording, as a player shows it. */
export function captionsRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items/{item_id}/captions'],
    {
      operationId: 'workspaceItemCaptions',
      summary: 'Captions of a film or recording: speech and subtitles as WebVTT',
      success: { status: 200, description: 'WebVTT, without cues where nothing is said.', file: VTT },
      errors: [404, 429, 500, 503],
    },
    async ({ id }, _exchange, { item_id }) => {
      const item = parseId('item', item_id!);
      const captions = item && (await services.items.captions(id, item));
      if (captions === undefined)
        throw new FarthingError('item_not_found', 'No item of this workspace has this id.');
      return { status: 200, headers: HEADERS, raw: captions };
    },
  );
}
